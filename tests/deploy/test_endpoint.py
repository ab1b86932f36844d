"""What a scheduler's Pod answers, and that its image is the one under test."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from schedproof.cluster.facts import Facts
from schedproof.deploy import endpoint
from schedproof.errors import ApiError, ImageError

FACTS = Facts(
    name="trial", kubeconfig=Path("k"), kind=None, kubectl=Path("kubectl"), kubernetes="v1.37.2", node_image="node",
    control_planes=("c",), workers=("w",), pause_image="pause", scheduler_image="s:1", scheduler_image_id="sha256:aaa",
    scheduler_version="v1.37.2",
)  # fmt: skip
WORKLOAD = {
    "kind": "Deployment", "metadata": {"name": "d"},
    "spec": {"template": {"spec": {"containers": [{"name": "kube-scheduler", "image": "s:1"}]}}},
}  # fmt: skip


def pod(image_id: str = "sha256:aaa", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"nodeName": "w"},
        "status": {"podIP": "10.0.0.7", "containerStatuses": [{"name": "kube-scheduler", "imageID": image_id}]}
        | status,
    }


def test_the_image_under_test_passes() -> None:
    endpoint.check_image(pod(), WORKLOAD, FACTS)


def test_another_image_under_the_same_tag_is_an_image_error() -> None:
    with pytest.raises(ImageError, match="sha256:bbb") as caught:
        endpoint.check_image(pod("sha256:bbb"), WORKLOAD, FACTS)
    assert "built anew under the same tag" in str(caught.value)


def test_a_registrys_digest_is_looked_up_in_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"docker.io/s@sha256:old": "sha256:bbb", "docker.io/s@sha256:new": "sha256:aaa"}
    monkeypatch.setattr(endpoint, "image_id", lambda node, image: known[image] if node == "w" else "")
    endpoint.check_image(pod("docker.io/s@sha256:new"), WORKLOAD, FACTS)
    with pytest.raises(ImageError, match="sha256:bbb"):
        endpoint.check_image(pod("docker.io/s@sha256:old"), WORKLOAD, FACTS)


def test_a_manifest_that_asks_for_another_image_on_purpose_is_not_compared() -> None:
    endpoint.check_image(pod("sha256:bbb"), WORKLOAD, dataclasses.replace(FACTS, scheduler_image="other:1"))


class Authorizer:
    """An API server that learns of the binding when it is asked for the third time, or never."""

    def __init__(self, answers: list[bool]) -> None:
        self.answers = answers

    def post_raw(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        assert path.endswith("/subjectaccessreviews")
        assert body["spec"]["user"] == "system:serviceaccount:n:reader"
        return {"status": {"allowed": self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]}}


ACCOUNT = {"metadata": {"name": "reader", "namespace": "n"}}


def test_a_new_binding_is_awaited_before_the_scheduler_can_remember_a_no() -> None:
    api: Any = Authorizer([False, False, True])
    endpoint.wait_until_allowed(api, ACCOUNT)
    assert api.answers == [True]


def test_a_binding_that_grants_nothing_is_an_api_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "LEARN_SECONDS", 0.1)
    api: Any = Authorizer([False])
    with pytest.raises(ApiError, match="metrics-reader"):
        endpoint.wait_until_allowed(api, ACCOUNT)


def test_metrics_are_asked_for_in_the_node_and_the_token_is_in_no_argument(fake: Any, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    docker = fake("docker", f"open({str(heard)!r}, 'w').write(sys.stdin.read()); print('a 1\\nb 2\\n200', end='')")
    assert endpoint.metrics(pod(), 10259, "the-token") == (200, "a 1\nb 2")
    assert heard.read_text() == "Authorization: Bearer the-token\n"
    (call,) = docker.calls
    assert call[:3] == ["exec", "--interactive", "w"]
    assert call[-1] == "https://10.0.0.7:10259/metrics"
    assert "the-token" not in " ".join(call)


def test_the_anonymous_sends_no_token(fake: Any, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    fake("docker", f"open({str(heard)!r}, 'w').write(sys.stdin.read()); print('Forbidden\\n403', end='')")
    assert endpoint.metrics(pod(podIP="fd00::7"), 10259) == (403, "Forbidden")
    assert "Authorization" not in heard.read_text()


def test_a_scheduler_that_does_not_answer_is_an_api_error(fake: Any) -> None:
    fake("docker", "print('curl: (7) refused', file=sys.stderr); sys.exit(7)")
    with pytest.raises(ApiError, match="refused"):
        endpoint.metrics(pod(), 10259, "t")


def test_a_pod_without_an_address_is_an_api_error() -> None:
    with pytest.raises(ApiError, match="no address yet"):
        endpoint.metrics(pod(podIP=""), 10259)
