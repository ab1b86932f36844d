"""Who bound a pod: every way in which the three sources agree or do not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schedproof.api import Api
from schedproof.binder import DEFAULT, Named, judge
from schedproof.binder.audit import AuditLog
from schedproof.binder.entries import Binding, parse
from schedproof.binder.judge import AUDIT_ONLY, BOTH, EVENT_ONLY, Binder, Traces, join
from schedproof.errors import ApiError, ClaimFailed
from schedproof.pods import Pod, Pods
from schedproof.watch.deadlines import Deadline

SA = "system:serviceaccount:kube-system:my-scheduler"
MINE = Named("my-scheduler", SA)
Request = Callable[..., Binding]


@pytest.fixture
def request_(line: Callable[..., str]) -> Request:
    """Make a binding request to n1, accepted unless said otherwise."""

    def make(user: str = SA, code: int = 201, node: str = "n1", process: str = "p1") -> Binding:
        entry = parse(line("binding", user, code=code, node=node, uid="u1", process=process))
        assert isinstance(entry, Binding)
        return entry

    return make


def joined(reporters: Sequence[str], requests: Sequence[Binding] | None, **more: Any) -> Binder:
    traces = Traces(more.pop("wanted", "my-scheduler"), "n1", reporters, requests)
    return join(traces, more.pop("known", [MINE]), expected="the claim", **more)


def failed(reporters: Sequence[str], requests: Sequence[Binding] | None, **more: Any) -> str:
    with pytest.raises(ClaimFailed) as failure:
        joined(reporters, requests, **more)
    return str(failure.value)


def test_event_and_audit_log_that_agree_name_the_binder(request_: Request) -> None:
    binder = joined(["my-scheduler"], [request_()])
    assert (binder.scheduler, binder.identity, binder.node, binder.source) == ("my-scheduler", SA, "n1", BOTH)
    assert binder.at is not None
    assert str(binder) == f"my-scheduler ({SA}) on n1"


def test_the_default_scheduler_is_always_known(request_: Request) -> None:
    binder = joined([DEFAULT.name], [request_(user=DEFAULT.identity)], wanted=DEFAULT.name, known=[])
    assert binder.identity == "system:kube-scheduler"


def test_two_accepted_bindings_fail(request_: Request) -> None:
    text = failed(["my-scheduler"], [request_(), request_(user="system:kube-scheduler", node="n2")])
    assert "bound twice" in text
    assert "system:kube-scheduler (pod p1) binds it to n2: 201" in text


def test_a_binder_of_another_name_than_the_pod_asks_for_fails(request_: Request) -> None:
    text = failed([DEFAULT.name], [request_(user=DEFAULT.identity)])
    assert "asks for my-scheduler and was bound by default-scheduler" in text


def test_a_binder_that_nobody_knows_fails(request_: Request) -> None:
    text = failed(["my-scheduler"], [request_(user="system:serviceaccount:x:y")], known=[])
    assert "a scheduler that nobody knows" in text


def test_an_event_that_the_audit_log_contradicts_fails(request_: Request) -> None:
    text = failed(["my-scheduler"], [request_(user="system:serviceaccount:x:y")])
    assert f"the event says my-scheduler, which is {SA}; but another identity made the binding" in text


def test_events_of_two_schedulers_fail(request_: Request) -> None:
    assert "Scheduled events of my-scheduler and of default-scheduler" in failed(
        ["my-scheduler", "default-scheduler"], [request_()]
    )


def test_a_pod_on_another_node_than_its_binding_says_fails(request_: Request) -> None:
    assert "it is on n1, but the binding says otherwise" in failed(["my-scheduler"], [request_(node="n2")])


def test_the_binder_repeating_its_binding_is_benign(request_: Request) -> None:
    binder = joined(["my-scheduler"], [request_(code=500), request_(), request_(code=409)])
    assert binder.scheduler == "my-scheduler"


@pytest.mark.parametrize(
    "rival",
    [{"user": "system:kube-scheduler"}, {"process": "p2"}],
    ids=["another-identity", "another-process-of-the-same-identity"],
)
@pytest.mark.parametrize("code", [409, 403, 404])
def test_a_refused_binding_of_anybody_else_is_a_second_scheduler(request_: Request, rival: Any, code: int) -> None:
    requests = [request_(), request_(code=code, node="n2", **rival)]
    assert "two schedulers serve the name my-scheduler" in failed(["my-scheduler"], requests)
    assert joined(["my-scheduler"], requests, conflicts_allowed=True).scheduler == "my-scheduler"


def test_the_binder_asking_for_two_nodes_fails(request_: Request) -> None:
    assert "asked for two nodes" in failed(["my-scheduler"], [request_(), request_(code=409, node="n2")])


def test_a_binding_without_an_event_is_told_by_an_identity_that_leaves_no_choice(request_: Request) -> None:
    binder = joined([], [request_()])
    assert (binder.scheduler, binder.source) == ("my-scheduler", AUDIT_ONLY)


def test_a_binding_without_an_event_by_an_identity_with_two_names_is_unknown(request_: Request) -> None:
    text = failed([], [request_()], known=[MINE, Named("my-scheduler-2", SA)])
    assert "unknown, no event" in text
    assert "that identity serves my-scheduler, my-scheduler-2" in text
    assert SA in text


def test_no_binding_and_no_event_means_a_preset_node() -> None:
    assert "bypassed all schedulers" in failed([], [])


def test_an_event_without_a_binding_proves_nothing(request_: Request) -> None:
    assert "no binding of the pod is in the audit log" in failed(["my-scheduler"], [])
    assert "binds it to n1: 403" in failed(["my-scheduler"], [request_(code=403)])


def test_without_an_audit_log_the_event_decides_and_the_source_says_so() -> None:
    binder = joined(["my-scheduler"], None)
    assert (binder.scheduler, binder.identity, binder.source) == ("my-scheduler", "", EVENT_ONLY)
    assert "its Scheduled event is of default-scheduler" in failed([DEFAULT.name], None)
    assert "unknown, no event" in failed([], None)


def pod(server: Any, api: Api, name: str = "pod1") -> Pod:
    server.pod(name)
    found = Pods(api, "ns").get(name)
    assert found is not None
    return found


def test_a_pod_is_judged_by_event_and_audit_log(server: Any, api: Api, audit: AuditLog) -> None:
    pod1 = pod(server, api)
    server.bind("pod1", "n1", SA, process="p1")
    server.event("pod1", "my-scheduler")
    binder = judge.assert_bound_by(pod1, MINE, api=api, audit=audit)
    assert (binder.scheduler, binder.process, binder.source) == ("my-scheduler", "p1", BOTH)


def test_many_pods_are_judged_with_one_look_at_the_audit_log(
    server: Any, api: Api, audit: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []
    read = AuditLog.read

    def counted(log: AuditLog) -> None:
        looks.append("look")
        read(log)

    monkeypatch.setattr(AuditLog, "read", counted)
    pods = [pod(server, api, f"pod{i}") for i in range(5)]
    for each in pods:
        server.bind(each.name, "n1", SA)
        server.event(each.name, "my-scheduler")
    binders = judge.assert_all_bound_by(pods, MINE, api=api, audit=audit)
    assert [binder.node for binder in binders] == ["n1"] * 5
    assert len(looks) <= 3  # more than one only if the marker was not there at first


def test_an_event_that_comes_late_is_waited_for(server: Any, api: Api, audit: AuditLog) -> None:
    pod1 = pod(server, api)
    server.bind("pod1", "n1", SA)
    server.on_watch.append(lambda: server.event("pod1", "my-scheduler"))
    assert judge.assert_bound_by(pod1, MINE, api=api, audit=audit).source == BOTH


def test_a_binding_that_is_logged_late_is_waited_for(
    server: Any, note: Any, api: Api, audit: AuditLog, line: Callable[..., str]
) -> None:
    pod1 = pod(server, api)
    server.pod("pod1", node="n1")
    server.event("pod1", "my-scheduler")
    late = line("binding", SA, code=201, uid=pod1.uid, node="n1")
    timer = threading.Timer(0.3, note, [late])
    timer.start()
    binder = judge.assert_bound_by(pod1, MINE, api=api, audit=audit)
    timer.join()
    assert binder.identity == SA


def test_the_wrong_binder_fails_with_the_name_that_the_pod_asks_for(server: Any, api: Api, audit: AuditLog) -> None:
    pod1 = pod(server, api)
    server.bind("pod1", "n1", SA)
    server.event("pod1", "my-scheduler")
    with pytest.raises(ClaimFailed, match=r"bound by default-scheduler and by nobody else[\s\S]*asks for my-scheduler"):
        judge.assert_bound_by(pod1, DEFAULT, api=api, audit=audit, known=[MINE])


def test_a_pod_that_is_not_bound_fails_with_its_state(server: Any, api: Api, audit: AuditLog) -> None:
    with pytest.raises(ClaimFailed, match=r"it is not bound[\s\S]*Pending, for my-scheduler, bound to no node"):
        judge.bound_by(pod(server, api), api=api, audit=audit)


def test_a_pod_with_a_preset_node_fails(
    server: Any, api: Api, audit: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuditLog.await_binding, "__defaults__", (Deadline("LATE", 0.1, "a test"),))
    server.pod("pod1", node="n1")
    with pytest.raises(ClaimFailed, match="bypassed all schedulers"):
        judge.bound_by(pod(server, api), api=api, audit=audit)


def test_a_pod_from_before_the_log_was_opened_is_not_judged(
    server: Any, api: Api, audit: AuditLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AuditLog.await_binding, "__defaults__", (Deadline("LATE", 0.1, "a test"),))
    server.pod("pod1", node="n1")
    pod1 = pod(server, api)
    audit.since = datetime.now(UTC) + timedelta(seconds=5)
    with pytest.raises(ApiError, match="opened too late") as error:
        judge.bound_by(pod1, api=api, audit=audit)
    assert error.value.category == "harness"


def test_a_refused_attempt_without_a_uid_counts_for_the_pod_of_that_name(
    server: Any, note: Any, api: Api, audit: AuditLog, line: Callable[..., str]
) -> None:
    pod1 = pod(server, api)
    note(line("binding", "system:serviceaccount:x:y", code=403, name="pod1", body={}))
    server.bind("pod1", "n1", SA)
    server.event("pod1", "my-scheduler")
    with pytest.raises(ClaimFailed, match="two schedulers serve"):
        judge.assert_bound_by(pod1, MINE, api=api, audit=audit)
