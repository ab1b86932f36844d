"""A cluster is ready when every node is and the audit log is written; if not, that says nothing about a scheduler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import schedproof.api
import schedproof.watch.wait
from schedproof.cluster import config, ready, start
from schedproof.cluster.ready import wait_until_nodes_ready
from schedproof.errors import ApiError, ClusterError, SchedproofError, WaitTimeout
from schedproof.settings import Settings


def node(status: str) -> dict[str, Any]:
    conditions = [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": status}]
    return {"status": {"conditions": conditions}}


class Answers:
    """Stands for the API server: gives each wait its objects, or an error."""

    def __init__(self, nodes: list[dict[str, Any]], error: SchedproofError | None = None) -> None:
        self.nodes, self.error = nodes, error
        self.asked: list[tuple[str, bool]] = []

    def wait_until(self, _api: Any, kind: str, namespace: str, is_ready: Any, **_more: Any) -> None:
        if self.error:
            raise self.error
        objects = self.nodes if kind == "Node" else [{"metadata": {"name": "default"}}]
        self.asked.append((kind + namespace, is_ready(objects)))


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(given: Answers) -> Answers:
        monkeypatch.setattr(schedproof.api, "Api", lambda kubeconfig: kubeconfig)
        monkeypatch.setattr(schedproof.watch.wait, "wait_until", given.wait_until)
        return given

    return use


@pytest.mark.parametrize(
    ("nodes", "done"),
    [
        ([node("True"), node("True")], True),
        ([node("True"), node("Unknown")], False),
        ([node("True")], False),
        ([node("True"), {}], False),
        ([], False),
    ],
)
def test_nodes_are_ready_when_all_are_there_and_each_says_so(answers: Any, nodes: list[Any], done: bool) -> None:
    asked = answers(Answers(nodes)).asked

    wait_until_nodes_ready(Path("kubeconfig"), 2)

    assert asked == [("Node", done), ("ServiceAccountdefault", True)]


@pytest.mark.parametrize("error", [WaitTimeout("3 nodes are Ready", seen="x NotReady"), ApiError("it answers")])
def test_nodes_that_do_not_come_up_are_a_harness_error_and_no_failed_claim(
    answers: Any, error: SchedproofError
) -> None:
    answers(Answers([], error))

    with pytest.raises(ClusterError, match=str(error.message.expected)) as caught:
        wait_until_nodes_ready(Path("kubeconfig"), 3)

    assert caught.value.category == "harness"


@pytest.mark.parametrize(
    ("missing", "words"),
    [(ready.API_SERVER, "audit-policy-file is a flag"), (config.AUDIT_LOG, "audit log is written")],
)
def test_cluster_whose_api_server_does_not_audit_is_refused_and_removed(
    engine: Any, chosen: Settings, missing: str, words: str
) -> None:
    engine.set(not_in_node=missing)

    with pytest.raises(ClusterError, match=words) as caught:
        start.start(
            chosen, kind=engine.kind, kubectl=engine.kubectl, node_image="schedproof/node:v1.37.2", kubernetes="v1.37.2"
        )

    assert caught.value.message.evidence
    assert engine.names == []
