"""Pods of a claim: made anew, waited for by uid, described in few lines; events in order."""

from __future__ import annotations

import time
from typing import Any

import pytest

from schedproof.api import Api, Object, Refused
from schedproof.binder import events
from schedproof.errors import ClaimFailed, ClusterError, Unreachable, WaitTimeout
from schedproof.pods import Pods
from schedproof.watch import state
from schedproof.watch.containers import MEANING, is_running, why_not_running
from schedproof.watch.deadlines import Deadline

SHORT = Deadline("SHORT", 0.5, "a test")
POD3: Object = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "pod3"},
    "spec": {"schedulerName": "my-scheduler"},
}
RUNNING = {"phase": "Running", "containerStatuses": [{"name": "c", "state": {"running": {}}}]}


@pytest.fixture
def pods(api: Api) -> Pods:
    """The pods of namespace ``ns``."""
    return Pods(api, "ns")


def test_a_pod_is_made_in_the_claims_namespace_and_the_manifest_is_left_alone(pods: Pods) -> None:
    pod = pods.apply(POD3)
    assert (pod.namespace, pod.scheduler, repr(pod)) == ("ns", "my-scheduler", "Pod(ns/pod3)")
    assert "namespace" not in POD3["metadata"]
    assert pods.made == [pod]


def test_a_pod_that_exists_already_is_refused(pods: Pods) -> None:
    pods.apply(POD3)
    with pytest.raises(Refused, match="already exists"):
        pods.apply(POD3)


def test_a_namespace_without_its_service_account_is_waited_for(server: Any, pods: Pods) -> None:
    server.fault(
        "create",
        code=403,
        message='pods "pod3" is forbidden: error looking up service account ns/default: "default" not found',
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "ns"}}
    server.on_watch.append(lambda: server.put(account))
    assert pods.apply(POD3).name == "pod3"


def test_a_service_account_that_never_comes_says_nothing_about_a_scheduler(
    server: Any, pods: Pods, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedproof.pods.BIND", SHORT)
    server.fault("create", code=403, message="error looking up service account ns/default: not found")
    with pytest.raises(ClusterError, match="ServiceAccount default exists"):
        pods.apply(POD3)


def test_any_other_refusal_of_a_pod_is_not_waited_for(server: Any, pods: Pods) -> None:
    server.fault("create", code=403, message='pods "pod3" is forbidden: exceeded quota: q')
    with pytest.raises(Refused, match="exceeded quota"):
        pods.apply(POD3)


def test_waiting_for_a_binding_returns_the_node(server: Any, pods: Pods) -> None:
    pod = pods.apply(POD3)
    server.on_watch.append(lambda: server.pod("pod3", node="n1"))
    assert pod.wait_until_bound() == "n1"


def test_a_pod_that_is_not_bound_in_time_says_for_whom_and_shows_its_events(server: Any, pods: Pods) -> None:
    pod = pods.apply(POD3)
    server.event("pod3", "my-scheduler", "FailedScheduling")
    with pytest.raises(WaitTimeout) as timeout:
        pod.wait_until_bound(SHORT)
    text = str(timeout.value)
    assert "pod pod3 is bound (it asks for my-scheduler), within 0.5 s" in text
    assert "FailedScheduling by my-scheduler: said so" in text


def test_another_pod_of_the_same_name_is_not_the_pod(server: Any, api: Api, pods: Pods) -> None:
    pod = pods.apply(POD3)
    api.delete("Pod", "pod3", "ns")
    server.pod("pod3", node="n1")
    with pytest.raises(Unreachable, match="the pod is gone"):
        pod.wait_until_bound()
    with pytest.raises(ClaimFailed, match="another pod has its name"):
        pod.current()
    pod.wait_until_gone()
    assert pod.describe() == "Pod ns/pod3: gone"


@pytest.mark.parametrize("reason", sorted(MEANING))
def test_a_container_that_cannot_start_ends_the_wait_with_its_meaning(server: Any, pods: Pods, reason: str) -> None:
    pod = pods.apply(POD3)
    waiting = {"waiting": {"reason": reason, "message": "the node's words"}}
    server.pod("pod3", node="n1", containerStatuses=[{"name": "c", "state": waiting}])
    with pytest.raises(Unreachable) as unreachable:
        pod.wait_until_running()
    assert f"container c: {reason}: {MEANING[reason]}" in str(unreachable.value)
    assert "the node's words" in str(unreachable.value)


def test_a_container_that_is_being_created_is_waited_for(server: Any, pods: Pods) -> None:
    pod = pods.apply(POD3)
    creating = {"waiting": {"reason": "ContainerCreating"}}
    server.pod("pod3", node="n1", containerStatuses=[{"name": "c", "state": creating}])
    server.on_watch.append(lambda: server.pod("pod3", **RUNNING))
    assert is_running(pod.wait_until_running())


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"status": {"phase": "Failed", "reason": "OutOfcpu"}}, "OutOfcpu"),
        ({"status": {"phase": "Succeeded"}}, "its containers ended"),
        ({"metadata": {"deletionTimestamp": "now"}}, "being deleted"),
    ],
)
def test_a_pod_that_has_ended_will_not_run(change: Object, why: str) -> None:
    pod: Object = {"metadata": {}, "spec": {}, "status": {}} | change
    assert why in (why_not_running(pod) or "")


def test_all_pods_of_a_label_are_waited_for_until_their_number_is_right(server: Any, pods: Pods) -> None:
    server.pod("web-1", node="n1")
    server.on_watch.append(lambda: server.pod("web-2", node="n2"))
    found = pods.wait_until_all_bound("app=web", 2)
    assert [pod.name for pod in found] == ["web-1", "web-2"]
    assert pods.made == found
    with pytest.raises(WaitTimeout, match="2 pods, 2 bound"):
        pods.wait_until_all_bound("app=web", 3, SHORT)


def test_all_pods_running_ends_at_the_first_that_cannot(server: Any, pods: Pods) -> None:
    server.pod("web-1", node="n1", **RUNNING)
    assert len(pods.wait_until_all_running("app=web", 1)) == 1
    never = {"waiting": {"reason": "ErrImageNeverPull"}}
    server.pod("web-2", node="n1", containerStatuses=[{"name": "c", "state": never}])
    with pytest.raises(Unreachable, match="ErrImageNeverPull"):
        pods.wait_until_all_running("app=web", 2)


def test_deleting_a_pod_is_waited_for_on_its_own(pods: Pods) -> None:
    pod = pods.apply(POD3)
    pod.delete(grace=0)
    began = time.monotonic()
    pod.wait_until_gone()
    assert time.monotonic() - began < 5


def test_events_are_sorted_by_series_last_event_time_and_creation() -> None:
    def event(**times: Any) -> Object:
        created = times.pop("created", "2026-12-01T10:00:00Z")
        return {"metadata": {"creationTimestamp": created}, "firstTimestamp": None, "lastTimestamp": None, **times}

    by_creation = event(created="2026-12-01T10:00:01Z")
    by_event_time = event(eventTime="2026-12-01T10:00:01.500000Z")
    by_last = event(lastTimestamp="2026-12-01T10:00:02Z", eventTime="2026-12-01T09:00:00.000000Z")
    by_series = event(series={"lastObservedTime": "2026-12-01T10:00:03.000000Z"}, lastTimestamp="2026-12-01T09:00:00Z")
    mixed = [by_series, by_event_time, by_last, by_creation]
    assert sorted(mixed, key=events.when) == [by_creation, by_event_time, by_last, by_series]


@pytest.mark.parametrize(
    ("event", "who"),
    [
        ({"reportingComponent": "my-scheduler", "source": {"component": ""}}, "my-scheduler"),
        ({"reportingComponent": "", "source": {"component": "default-scheduler"}}, "default-scheduler"),
        ({"source": None}, ""),
    ],
)
def test_the_reporter_is_the_component_or_the_older_source(event: Object, who: str) -> None:
    assert events.reporter(event) == who


def test_many_objects_are_told_in_few_lines() -> None:
    many = [{"kind": "Node", "metadata": {"name": f"n{i}"}} for i in range(20)]
    told = state.lines(many).splitlines()
    assert (len(told), told[-1]) == (state.SHOWN + 1, "... and 12 more")


def test_an_object_that_is_not_a_pod_tells_its_bad_conditions_only() -> None:
    conditions = [
        {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": "cni   plugin\nnot initialized"},
        {"type": "MemoryPressure", "status": "False"},
    ]
    node = {"kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": conditions}}
    assert state.line(node) == "Node n1: Ready=False KubeletNotReady (cni plugin not initialized)"
