"""Download one file with its checksum, whole or not at all, and remember hosts that do not answer.

Proxies (``HTTPS_PROXY``, ``NO_PROXY``) and ``REQUESTS_CA_BUNDLE`` are honoured, as `requests` does.
"""

from __future__ import annotations

import hashlib
import queue
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import requests
import urllib3
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from schedproof.errors import ProgramError
from schedproof.programs import cache

PATIENCE = 2.5
"""Seconds until a host never heard of counts as silent: a machine without the internet loses them once a host."""

PATIENCE_FORCED = 30.0
"""The same when the user forced the release: nothing else may be asked instead."""

READ = 30.0
"""Seconds without a byte after which a download counts as ended."""

WHOLE = 1800.0
"""Seconds for a whole file: 120 MB at 70 kB/s."""

CHUNK = 1 << 20
CHECKSUM = re.compile(r"\b[0-9a-f]{64}\b")

Progress = Callable[[float, float | None], None]


class HostSilentError(ProgramError):
    """A host does not answer, or a proxy on the way does not."""


class NotServedError(ProgramError):
    """The host answers, but not with that file."""


class DownloadEndedEarlyError(ProgramError):
    """The connection ended before the file did, twice."""


class ChecksumError(ProgramError):
    """A file is not the one that its checksum belongs to. Nothing else is tried: somebody must look."""


_silent: dict[str, str] = {}
_heard: set[str] = set()


def forget() -> None:
    """Forget which hosts answered and which did not."""
    _silent.clear()
    _heard.clear()


def checksum(url: str, *, forced: bool = False) -> str:
    """Return the SHA-256 that the small file at ``url`` holds, as its first word.

    Raises:
        HostSilentError: No answer within :data:`PATIENCE`; the host is not asked again by this process.
        NotServedError: Another answer than 200, or no checksum in it (the log-in page of a network, say).
    """
    host = urlsplit(url).netloc
    if host in _silent and not forced:
        raise HostSilentError(f"{host} answers", seen=_silent[host])
    patience = PATIENCE_FORCED if forced or host in _heard else PATIENCE
    try:
        answer = _within(patience, url)
    except requests.RequestException as error:
        _silent[host] = f"{host}: {_reason(error)}"
        raise HostSilentError(f"{host} answers within {patience:.1f} s", seen=_silent[host]) from error
    _heard.add(host)
    found = CHECKSUM.search(answer.text[:4096].lower()) if answer.status_code == requests.codes.ok else None
    if found is None:
        what = "no checksum" if answer.status_code == requests.codes.ok else f"HTTP {answer.status_code}"
        raise NotServedError(f"{url} is served", seen=f"{what} from {url}")
    return found.group()


@retry(stop=stop_after_attempt(2), retry=retry_if_exception_type(DownloadEndedEarlyError), reraise=True)
def fetch(url: str, sha256: str, target: Path, progress: Progress | None = None) -> Path:
    """Write the file at ``url`` to ``target`` and return it; a file that ends early is asked for once more.

    Args:
        url: Where it lies.
        sha256: What its checksum must be.
        target: A file that need not exist; nothing is left of it on an error.
        progress: Called with the bytes that came so far and, if known, all of them.

    Raises:
        NotServedError: Another answer than 200.
        DownloadEndedEarlyError: The connection ended, or was silent for :data:`READ` seconds, twice.
        ChecksumError: The whole file came, but it is another one.
        ProgramError: It could not be written.
    """
    try:
        _require_checksum(url, _stream(url, target, progress), sha256)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def _require_checksum(url: str, seen: str, sha256: str) -> None:
    if seen != sha256:
        raise ChecksumError(
            f"{url} has the checksum {sha256}",
            seen=f"it has {seen}",
            cause="a proxy or a mirror gives out another file, or the release was tampered with",
            cure="download both again by hand and compare, or build instead (PROVIDERS=NAME=module)",
        )


def _stream(url: str, target: Path, progress: Progress | None) -> str:
    digest, came, began = hashlib.sha256(), 0, time.monotonic()
    try:
        with requests.get(url, stream=True, timeout=(READ, READ)) as answer:
            if answer.status_code != requests.codes.ok:
                raise NotServedError(f"{url} is served", seen=f"HTTP {answer.status_code} from {url}")
            length = answer.headers.get("Content-Length", "")
            total = float(length) if length.isdigit() else None
            with target.open("wb") as file:
                for chunk in answer.iter_content(CHUNK):
                    file.write(chunk)
                    digest.update(chunk)
                    came += len(chunk)
                    if progress is not None:
                        progress(came, total)
                    if time.monotonic() - began > WHOLE:
                        raise requests.Timeout(f"not finished after {WHOLE:.0f} s")
    except requests.RequestException as error:
        raise DownloadEndedEarlyError(
            f"{url} is downloaded as a whole",
            seen=f"{url} ended early: {_reason(error)}",
            cure="run it again; behind a proxy set HTTPS_PROXY",
        ) from error
    except OSError as error:  # after RequestException, which is one too
        raise cache.unwritable(target, error) from error
    return digest.hexdigest()


def _within(seconds: float, url: str) -> requests.Response:
    """Get a small file in a thread: looking up a name and trying several addresses know no time-out of their own."""
    answers: queue.Queue[requests.Response | requests.RequestException] = queue.Queue()

    def get() -> None:
        try:
            answers.put(requests.get(url, timeout=seconds))
        except requests.RequestException as error:
            answers.put(error)
        except (ValueError, urllib3.exceptions.HTTPError) as error:  # what odd proxy settings come to
            answers.put(requests.exceptions.InvalidProxyURL(str(error)))

    threading.Thread(target=get, daemon=True).start()
    try:
        answer = answers.get(timeout=seconds)
    except queue.Empty:
        raise requests.Timeout(f"no answer within {seconds:.1f} s") from None
    if isinstance(answer, requests.RequestException):
        raise answer
    return answer


def _reason(error: requests.RequestException) -> str:
    """Say in a few words what went wrong; requests' own text is a pile of class names."""
    text = str(error)
    if incomplete := re.search(r"(\d+ bytes read, \d+ more expected)", text):
        return incomplete.group()
    for sign, words in (
        ("Name or service not known", "its name is not known here"),
        ("name resolution", "its name is not known here"),
        ("Failed to resolve", "its name is not known here"),
        ("Connection refused", "the connection is refused"),
        ("unreachable", "there is no way to it"),
    ):
        if sign in text:
            reason = words
            break
    else:
        reason = text.splitlines()[0][:160] if text else type(error).__name__
    # InvalidSchema: a SOCKS proxy is set, and the package for it is not there.
    if isinstance(
        error,
        requests.exceptions.ProxyError | requests.exceptions.InvalidProxyURL | requests.exceptions.InvalidSchema,
    ):
        return f"the proxy (HTTPS_PROXY, HTTP_PROXY) is in the way: {reason}"
    return reason
