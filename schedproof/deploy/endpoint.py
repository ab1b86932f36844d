"""What a running scheduler's Pod answers: its checks, its metrics, and which image it really runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tenacity

from schedproof.api import Refused
from schedproof.cluster.node import image_id, run_in_node
from schedproof.deploy import bundle
from schedproof.errors import ApiError, ImageError

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

LEARN_SECONDS = 5.0
"""How long the API server may take to learn of a new binding; it takes milliseconds."""
SECONDS = 10.0
"""Deadline of one question to a scheduler; it answers from memory."""


def readyz(api: Api, pod: Object, port: int) -> str:
    """Return what ``/readyz?verbose`` of a Pod says, be it yes or no, asked through the API server's proxy.

    Raises:
        ApiError: It does not answer.
    """
    metadata = pod["metadata"]
    path = api.path("Pod", metadata["namespace"], f"https:{metadata['name']}:{port}", "proxy/readyz")
    try:
        return api.get_raw(path, [("verbose", "")])
    except Refused as error:
        # The same code comes from the proxy itself when nobody listens; only a scheduler names its checks.
        if "readyz check failed" in error.answer:
            return error.answer
        raise


def wait_until_allowed(api: Api, account: Object) -> None:
    """Wait until the API server's authorizer knows that a ServiceAccount may read ``/metrics``.

    It learns of a new binding some milliseconds later; a scheduler that asks before remembers the "no" for ten seconds.

    Raises:
        ApiError: It still says no after five seconds.
    """
    metadata = account["metadata"]
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": f"system:serviceaccount:{metadata['namespace']}:{metadata['name']}",
            "nonResourceAttributes": {"path": "/metrics", "verb": "get"},
        },
    }
    asking = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda allowed: not allowed),
        stop=tenacity.stop_after_delay(LEARN_SECONDS),
        wait=tenacity.wait_fixed(0.05),
    )
    try:
        asking(lambda: api.post_raw("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"])
    except tenacity.RetryError as error:
        raise ApiError(
            f"ServiceAccount {metadata['name']} may read /metrics",
            seen=f"the API server says no, {LEARN_SECONDS:.0f} s after the binding was made",
            cause="the ClusterRole or its binding in manifests/kubernetes/metrics-reader.yaml is wrong",
        ) from error


def token(api: Api, account: Object) -> str:
    """Return a token of a ServiceAccount, valid for ten minutes (the least that is given out).

    Raises:
        ApiError: The API server refused it.
    """
    metadata = account["metadata"]
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 600}}
    answer = api.post_raw(api.path("ServiceAccount", metadata["namespace"], metadata["name"], "token"), request)
    return str(answer["status"]["token"])


def metrics(pod: Object, port: int, token: str = "") -> tuple[int, str]:
    """Ask a Pod for ``/metrics`` from inside its node.

    The API server's proxy would not pass the token on, so curl asks in the node; it reads the token from its standard
    input, so that no process list and no message ever shows it.

    Args:
        pod: A running Pod.
        port: Where it serves HTTPS, with a certificate that it signed itself.
        token: Of a ServiceAccount; empty asks anonymously.

    Returns:
        HTTP status and body.

    Raises:
        ApiError: The Pod is not running, or does not answer.
    """
    node, address = (pod.get("spec") or {}).get("nodeName"), (pod.get("status") or {}).get("podIP")
    if not node or not address:
        raise ApiError(f"Pod {pod['metadata']['name']} runs", seen="it has no node or no address yet")
    host = f"[{address}]" if ":" in address else address
    asked = run_in_node(
        node,
        ["curl", "--silent", "--show-error", "--insecure", "--noproxy", "*", "--max-time", f"{SECONDS:.0f}",
         "--header", "@-", "--write-out", "\n%{http_code}", f"https://{host}:{port}/metrics"],
        seconds=SECONDS + 20, check=False, stdin=f"Authorization: Bearer {token}\n" if token else "Accept: */*\n",
    )  # fmt: skip
    body, _, code = asked.stdout.rpartition("\n")
    if asked.code != 0 or not code.isdigit():
        raise ApiError(
            f"https://{host}:{port}/metrics answers from inside {node}",
            seen=asked.stderr.strip() or f"curl: {asked.code}",
        )
    return int(code), body


def check_image(pod: Object, workload: Object, facts: Facts) -> None:
    """Compare the image that a Pod runs with the one under test, if its manifest asks for that one.

    Raises:
        ImageError: It is another one: a tag was built anew and the node kept the old image, for example.
    """
    box = bundle.scheduler_container(workload)
    if box is None or box.get("image") != facts.scheduler_image or not facts.scheduler_image_id:
        return
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    running = next((str(status.get("imageID", "")) for status in statuses if status["name"] == box["name"]), "")
    if _digest(running) == _digest(facts.scheduler_image_id):
        return
    # With a registry's digest instead of the image's own id, the node knows which id that is. A foreign cluster's
    # nodes cannot be asked; there the digest says nothing.
    if "@" in running:
        known = image_id(pod["spec"]["nodeName"], running) if facts.owned else ""
        if not known or _digest(known) == _digest(facts.scheduler_image_id):
            return
        running = known
    raise ImageError(
        f"Pod {pod['metadata']['name']} runs the image under test: {facts.scheduler_image}, {facts.scheduler_image_id}",
        seen=f"it runs {running or 'an image that the kubelet does not name'}",
        cause="the image was built anew under the same tag, and the node still had the old one",
        cure="load it again (make clean, or without KEEP=1)",
    )


def _digest(image: str) -> str:
    return image.rpartition("sha256:")[2]
