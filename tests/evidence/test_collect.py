"""Evidence of a failed claim: every collector's canary is in it, no secret is, and no trouble hides the failure."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof.cluster.facts import Facts
from schedproof.command import Completed
from schedproof.errors import ApiError
from schedproof.evidence.collect import collect, slug
from schedproof.evidence.collectors import COLLECTORS, Files, Scene
from schedproof.evidence.redaction import FILE_BYTES, FOLDER_BYTES

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl"

CANARIES = {
    "pods": "canary-pod-message",
    "events": "canary-event-message",
    "events_wide": "canary-kubectl-events",
    "objects": "canary-configmap-value",
    "second_schedulers": "canary-second-scheduler-log",
    "default_scheduler": "canary-default-scheduler-log",
    "leases": "canary-lease-holder",
    "audit": "canary-audit-id",
    "nodes": "canary-kubelet-journal",
}
"""One text for each collector that nothing else writes."""

MORE = (
    "canary-previous-log", "canary-config-profile", "canary-second-scheduler-state", "--canary-default-flag",
    "canary-event-of-the-scheduler", "canary-deployment-status", "to canary-node", "PodScheduled=canary",
    "holder canary-of-a-lease", "canary-scheduler-pod", "canary-containerd-journal", "canary-by-uid",
    "canary-by-identity",
)  # fmt: skip
"""What must be there as well."""


def obj(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "namespace": "claim"}, **fields}


LISTS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("Pod", "claim"): [obj("pod3", status={"message": "canary-pod-message"})],
    ("Event", "claim"): [
        obj("e2", reason="Scheduled", lastTimestamp=None, eventTime="2026-12-01T10:00:02Z", series=None),
        obj("e1", reason="FailedScheduling", message="canary-event-message", eventTime="2026-12-01T10:00:01Z",
            reportingComponent="default-scheduler", involvedObject={"kind": "Pod", "name": "pod3", "uid": "u"}),
    ],
    ("ConfigMap", "claim"): [obj("c", data={"key": "canary-configmap-value"})],
    ("Event", "claim-sched"): [
        obj("e3", reason="BackOff", message="canary-event-of-the-scheduler", involvedObject={"name": "mine-7f-x"}),
        obj("e4", reason="BackOff", message="somebody-elses-event", involvedObject={"name": "mined"}),
    ],
    ("Secret", "claim"): [obj("s", data={"key": "c2VjcmV0LXZhbHVl"}, type="Opaque")],
    ("Pod", "kube-system"): [obj("kube-scheduler-x", spec={"command": ["kube-scheduler", "--canary-default-flag"]})],
    ("coordination.k8s.io/v1/Lease", "kube-system"): [obj("x", spec={"holderIdentity": "canary-lease-holder"})],
}  # fmt: skip


class Api:
    """A cluster with one of everything; ``broken`` makes every question fail."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken

    def list(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = ""
    ) -> tuple[list[dict[str, Any]], str]:
        del fields
        if self.broken:
            raise ApiError("the API server answers", seen="connection refused")
        assert labels == ("component=kube-scheduler" if (kind, namespace) == ("Pod", "kube-system") else "")
        items = LISTS.get((kind, namespace), [])
        return [{"kind": kind.rpartition("/")[2], **item} for item in items], "1"

    def logs(self, name: str, namespace: str, **_: Any) -> str:
        if self.broken:
            raise ApiError("the API server answers", seen="connection refused")
        assert (name, namespace) == ("kube-scheduler-x", "kube-system")
        return f"canary-default-scheduler-log\nAuthorization: Bearer {JWT}\n"


class Second:
    """A second scheduler with a log, a state and a configuration."""

    name, namespace = "my-scheduler", "claim-sched"
    identity = "system:serviceaccount:claim-sched:mine"

    def __init__(self) -> None:
        config = "kind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: canary-config-profile}]\n"
        self.objects: list[dict[str, Any]] = [
            {"kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"config.yaml": config}},
            {"kind": "Deployment", "metadata": {"name": "mine"}, "spec": {}},
        ]

    def pods(self) -> list[dict[str, Any]]:
        return [obj("canary-scheduler-pod")]

    def logs(self, *, lines: int, previous: bool = False) -> str:
        assert lines > 100
        return "canary-previous-log" if previous else "canary-second-scheduler-log"

    def state(self) -> str:
        return "canary-second-scheduler-state"

    def evidence(self) -> dict[str, str]:
        return {"deployment.yaml": "canary-deployment-status"}


def entry(resource: str, verb: str, note: str = "", **fields: Any) -> dict[str, Any]:
    kind, _, subresource = resource.partition("/")
    about = {"resource": kind, "subresource": subresource, "namespace": "claim", "name": "pod3", "uid": "u"}
    about |= fields.pop("about", {})
    return {
        "kind": "Event", "auditID": f"canary-{note}", "stage": "ResponseComplete", "verb": verb, "objectRef": about,
        "requestReceivedTimestamp": "2026-12-01T10:00:00.000001Z", "stageTimestamp": "2026-12-01T10:00:00.000002Z",
        "user": {"username": "u"}, "responseStatus": {"code": 201},
    } | fields  # fmt: skip


class Audit:
    """An audit log with entries of the claim and of others."""

    def entries(self) -> list[dict[str, Any]]:
        return [
            entry("pods/binding", "create", "audit-id", requestObject={"target": {"name": "canary-node"}}),
            entry("pods/status", "patch", requestObject={
                "status": {"conditions": [{"type": "PodScheduled", "status": "canary"}]}}),
            entry("leases", "update", requestObject={"spec": {"holderIdentity": "canary-of-a-lease"}}),
            entry("nodes", "get", "by-uid", about={"namespace": "", "uid": "uid-pod3"}),
            entry("nodes", "get", "by-identity", about={"namespace": ""}, user={"username": Second.identity}),
            entry("pods/binding", "create", about={"namespace": "another"}, user={"username": "somebody-else"}),
            {"note": "no event at all", "objectRef": {"namespace": "claim"}},
        ]  # fmt: skip


AUDIT = Audit()


@pytest.fixture
def journals(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Nodes with journals; returns which (node, unit) were read."""
    read: list[tuple[str, str]] = []

    def run_in_node(node: str, argv: Sequence[str], *, seconds: float) -> Completed:
        assert argv[0] == "journalctl"
        unit = argv[argv.index("--unit") + 1]
        read.append((node, unit))
        return Completed(tuple(argv), 0, f"canary-{unit}-journal\n", "", seconds)

    monkeypatch.setattr("schedproof.evidence.nodes.run_in_node", run_in_node)
    return read


@pytest.fixture
def facts(fake: Any, tmp_path: Path, journals: list[tuple[str, str]]) -> Facts:
    del journals
    kubectl = fake("kubectl", "print('SOURCE canary-kubectl-events')")
    return Facts(
        name="trial", kubeconfig=tmp_path / "kubeconfig", kind=None, kubectl=kubectl.path, kubernetes="v1.37.2",
        node_image="node", control_planes=("trial-control-plane",), workers=("trial-worker",), pause_image="pause",
        scheduler_image="s:1", scheduler_image_id="sha256:1", scheduler_version="v1.37.2",
    )  # fmt: skip


def gather(
    facts: Facts,
    *,
    api: Any = None,
    collectors: Sequence[Callable[[Scene], Files]] = COLLECTORS,
    claim: str = "claim-1",
    audit: Audit | None = AUDIT,
) -> tuple[Path, str]:
    second: Any = Second()
    cluster: Any = api or Api()
    folder = collect(claim, cluster, facts, ["claim"], [second], audit, collectors=collectors)
    files = [path for path in folder.parent.rglob("*") if path.is_file()]
    return folder, "\n".join(path.read_text() for path in files)


def test_every_canary_is_in_the_folder(facts: Facts) -> None:
    folder, text = gather(facts)
    assert [canary for canary in (*CANARIES.values(), *MORE) if canary not in text] == []
    assert not (folder / "not-collected.txt").exists()


def test_there_is_a_canary_for_every_collector() -> None:
    assert set(CANARIES) == {collector.__name__ for collector in COLLECTORS} | {"nodes"}


@pytest.mark.parametrize("removed", COLLECTORS, ids=lambda collector: collector.__name__)
def test_without_a_collector_its_canary_is_missed(facts: Facts, removed: Callable[[Scene], Files]) -> None:
    _, text = gather(facts, collectors=[collector for collector in COLLECTORS if collector is not removed])
    assert CANARIES[removed.__name__] not in text
    assert all(canary in text for name, canary in CANARIES.items() if name != removed.__name__)


def test_no_secret_reaches_the_disk(facts: Facts) -> None:
    _, text = gather(facts)
    assert JWT not in text
    assert "c2VjcmV0LXZhbHVl" not in text
    assert "kind: Secret" in text


def test_lines_of_other_claims_stay_out(facts: Facts) -> None:
    _, text = gather(facts)
    assert "somebody-else" not in text


def test_a_cluster_without_audit_log_says_so(facts: Facts) -> None:
    folder, _ = gather(facts, audit=None)
    assert "cannot be read" in (folder / "audit.jsonl").read_text()


def test_events_are_in_order_of_time_with_their_source(facts: Facts) -> None:
    folder, _ = gather(facts)
    _, first, second = (folder / "events.txt").read_text().splitlines()
    assert "FailedScheduling" in first
    assert "by=default-scheduler" in first
    assert "Scheduled" in second


def test_a_cluster_that_does_not_answer_is_written_down_and_raises_nothing(facts: Facts) -> None:
    folder, text = gather(facts, api=Api(broken=True))
    said = (folder / "not-collected.txt").read_text()
    assert "connection refused" in said
    assert "default_scheduler:" in said
    assert "canary-kubelet-journal" in text


def test_a_collector_with_a_fault_of_its_own_is_written_down(facts: Facts) -> None:
    def broken(scene: Scene) -> Files:
        return {"x": scene.facts.name[1000]}

    folder, text = gather(facts, collectors=[broken, *COLLECTORS])
    assert "broken:" in (folder / "not-collected.txt").read_text()
    assert "IndexError" in text
    assert CANARIES["pods"] in text


def test_a_collector_that_hangs_is_left_behind(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    release = threading.Event()

    def hangs(scene: Scene) -> Files:
        del scene
        release.wait(30)
        return {}

    monkeypatch.setattr("schedproof.evidence.collect.SECONDS", 0.5)
    monkeypatch.setattr("schedproof.evidence.collect.collect_nodes", lambda *_: None)
    folder, _ = gather(facts, collectors=[hangs, COLLECTORS[0]])
    release.set()
    assert "left behind" in (folder / "not-collected.txt").read_text()
    assert CANARIES["pods"] in (folder / "pods.yaml").read_text()


def test_files_and_folder_are_bounded_and_what_is_left_out_is_said(facts: Facts) -> None:
    def much(scene: Scene) -> Files:
        del scene
        return {f"big-{number}.log": "x\n" * (FILE_BYTES // 2 + 1) for number in range(20)}

    folder, _ = gather(facts, collectors=[COLLECTORS[0], much])
    sizes = [path.stat().st_size for path in folder.iterdir()]
    assert max(sizes) <= FILE_BYTES
    assert sum(sizes) <= FOLDER_BYTES
    assert "big-19.log: left out" in (folder / "not-collected.txt").read_text()
    assert (folder / "pods.yaml").exists()


def test_a_folder_of_an_earlier_run_is_replaced(facts: Facts) -> None:
    folder, _ = gather(facts)
    (folder / "stale.txt").write_text("old")
    again, _ = gather(facts)
    assert again == folder
    assert not (folder / "stale.txt").exists()


def test_node_logs_are_read_once_for_all_claims(facts: Facts, journals: list[tuple[str, str]]) -> None:
    gather(facts, claim="claim-1")
    gather(facts, claim="claim-2")
    assert sorted(journals) == [
        (node, unit) for node in ("trial-control-plane", "trial-worker") for unit in ("containerd", "kubelet")
    ]


def test_the_nodes_of_a_foreign_cluster_are_left_alone(facts: Facts, journals: list[tuple[str, str]]) -> None:
    folder, _ = gather(dataclasses.replace(facts, owned=False))
    assert journals == []
    assert "foreign cluster" in (folder / "nodes.txt").read_text()


@pytest.mark.parametrize(
    ("claim", "name"),
    [("pod3/../../etc", "pod3-..-..-etc"), ("a b[c]", "a-b-c"), ("..", "unnamed"), ("é" * 300, "unnamed")],
)
def test_odd_characters_of_a_claim_never_leave_the_evidence_folder(claim: str, name: str) -> None:
    assert slug(claim) == name
