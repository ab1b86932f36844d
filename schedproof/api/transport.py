"""Requests to one API server: credentials from a kubeconfig, time-outs on everything, retries that end.

The ``kubernetes`` library reads the kubeconfig, keeps credentials fresh and sets up TLS; the requests go through the
connection pool it made, because its own layers hide what a claim needs (raw objects, retries that can be counted on).
"""

from __future__ import annotations

import contextlib
import json
import ssl
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlparse

import tenacity
import urllib3
from urllib3.exceptions import HTTPError, InsecureRequestWarning, ReadTimeoutError

import schedproof
from schedproof.api.refusals import Unavailable, error_for
from schedproof.errors import ApiError, UsageError

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

CONNECT = 5.0
"""Seconds to connect; a cluster on this machine answers in one millisecond."""
READ = 30.0
"""Seconds of silence allowed within an answer."""
PATIENCE = 20.0
"""Seconds over which a request that meets transport faults is tried again: an API server restarts in less."""

Query = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    query: Query = ()
    body: Any = None
    content: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class Transport:
    """The connection to one API server; may be shared by threads."""

    def __init__(self, kubeconfig: Path, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Read the kubeconfig; nothing is asked yet.

        Raises:
            UsageError: There is no such kubeconfig or it cannot be understood.
        """
        self._client = _client(kubeconfig)
        self._host = self._client.configuration.host
        self._pool: urllib3.PoolManager = self._client.rest_client.pool_manager
        self._headers = [("User-Agent", f"schedproof/{schedproof.__version__}"), *headers]

    def ask(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Any = None,
        content: str = "application/json",
        patience: float = PATIENCE,
        retry_answers: bool = True,
    ) -> bytes:
        """Make a request and return the answer's body.

        Args:
            method: HTTP method.
            path: Below the server's address.
            query: Parameters.
            body: Sent as JSON.
            content: Content type of the body.
            patience: Seconds over which transport faults are retried; the last fault is then raised.
            retry_answers: Whether 429 and 5xx answers are retried; False where the code is what the caller wants.

        Raises:
            Refused: A final answer of 400 and above.
            ApiError: No answer within ``patience``.
        """
        request = _Request(method, path, query, body, content)
        began = time.monotonic()

        def attempt() -> bytes:
            left = max(0.05, patience - (time.monotonic() - began))
            with self._open(request, min(READ, max(left, 1.0)), retry_answers=retry_answers) as response:
                try:
                    return response.read()
                except (HTTPError, OSError) as error:
                    raise Unavailable(str(request), _words(error)) from error

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(Unavailable),
            stop=tenacity.stop_before_delay(patience),
            wait=_pause,
            reraise=True,
        )
        return retrying(attempt)

    @contextlib.contextmanager
    def lines(self, path: str, query: Query, *, silence: float, end: float) -> Iterator[Iterator[bytes]]:
        """Open a stream and yield an iterator over its lines, each given out the moment it is whole.

        Args:
            path: Below the server's address.
            query: Parameters.
            silence: Seconds without a byte after which the stream counts as lost.
            end: ``time.monotonic()`` past which no more bytes are waited for.

        Raises:
            Unavailable: It could not be opened, was cut, or went silent. Its end in good order just ends the lines.
            Refused: A final answer of 400 and above.
        """
        request = _Request("GET", path, query)

        def patience() -> float:
            return max(0.02, min(silence, end - time.monotonic()))

        with self._open(request, patience(), retry_answers=True) as response:
            yield _lines(f"{request} (watch)", response, patience)

    @contextlib.contextmanager
    def _unverified_is_meant(self) -> Iterator[None]:
        """A kubeconfig with insecure-skip-tls-verify means it: urllib3's warning must not become an error of a test."""
        if self._client.configuration.verify_ssl:
            yield
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureRequestWarning)
            yield

    @contextlib.contextmanager
    def _open(self, request: _Request, read: float, *, retry_answers: bool) -> Iterator[urllib3.BaseHTTPResponse]:
        method, path, body = request.method, request.path, request.body
        headers = urllib3.HTTPHeaderDict(self._headers)
        self._client.update_params_for_auth(headers, [], ["BearerToken"], path, method, body)
        if body is not None:
            headers["Content-Type"] = request.content
        try:
            with self._unverified_is_meant():
                response = self._pool.request(
                    method,
                    self._host + path + ("?" + urlencode(request.query) if request.query else ""),
                    body=None if body is None else json.dumps(body).encode(),
                    headers=headers,
                    timeout=urllib3.Timeout(connect=CONNECT, read=read),
                    retries=False,
                    preload_content=False,
                )
        except (HTTPError, OSError) as error:
            raise _fault(str(request), self._host, error) from error
        try:
            if response.status >= HTTPStatus.BAD_REQUEST:
                after = response.headers.get("Retry-After", "")
                raise error_for(
                    str(request),
                    response.status,
                    _rest(response),
                    after=float(after) if after.isdigit() else 0.0,
                    retryable=retry_answers,
                )
            yield response
        finally:
            # An answer read to its end goes back to the pool by itself; a stream left early must be cut, or the
            # pool would read it to its end first.
            if not response.closed:
                response.close()


def _client(kubeconfig: Path) -> ApiClient:
    import yaml
    from kubernetes.client import ApiClient, Configuration
    from kubernetes.config import ConfigException, load_kube_config

    configuration = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]  # the library types its generated half only
            str(kubeconfig), client_configuration=configuration, persist_config=False
        )
    except (ConfigException, OSError, yaml.YAMLError, TypeError, ValueError) as error:
        raise UsageError(
            f"{kubeconfig} is a kubeconfig", seen=str(error), cure="give the path of a kubeconfig that kubectl accepts"
        ) from error
    if (urlparse(configuration.host).hostname or "") in ("127.0.0.1", "localhost", "::1"):
        configuration.proxy = None  # kind's API server is on this machine, whatever HTTPS_PROXY says
    return ApiClient(configuration)


def _pause(state: tenacity.RetryCallState) -> float:
    """Return the seconds before the next attempt: what the server asked for, else longer each time, up to 2 s."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.after if isinstance(error, Unavailable) else 0.0
    return max(min(asked, 10.0), tenacity.wait_random_exponential(multiplier=0.05, max=2.0)(state))


def _lines(request: str, response: urllib3.BaseHTTPResponse, patience: Callable[[], float]) -> Iterator[bytes]:
    # The socket's time-out was set when the stream was opened; with every piece less of the caller's time is left.
    socket = getattr(response.connection, "sock", None)
    rest = b""
    try:
        for piece in response.stream(1 << 16, decode_content=True):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
            if socket is not None:
                socket.settimeout(patience())
    except ReadTimeoutError as error:
        raise Unavailable(request, "the stream went silent") from error
    except (HTTPError, OSError) as error:
        raise Unavailable(request, f"the stream was cut: {_words(error)}") from error


def _rest(response: urllib3.BaseHTTPResponse) -> bytes:
    try:
        return response.read()
    except (HTTPError, OSError):
        return b""


def _fault(request: str, host: str, error: Exception) -> ApiError:
    inner = error.args[0] if error.args else None
    if isinstance(error, ssl.SSLCertVerificationError) or isinstance(inner, ssl.SSLCertVerificationError):
        return ApiError(
            f"{host} shows a certificate that the kubeconfig's authority signed",
            seen=_words(error),
            cause="the kubeconfig is another cluster's, perhaps one that had this port before",
            cure="make the kubeconfig again (kind export kubeconfig), or make the cluster again",
        )
    return Unavailable(request, f"{host}: {_words(error)}")


def _words(error: BaseException) -> str:
    """Return the innermost reason: urllib3 wraps the operating system's words several times."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{error}" or type(error).__name__
