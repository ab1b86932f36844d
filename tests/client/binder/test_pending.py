"""Pods that must stay Pending: everything that can happen to one is seen, and a slow cluster does not pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from schedproof.api import Api
from schedproof.binder import pending
from schedproof.binder.audit import AuditLog
from schedproof.errors import ApiError, ClaimFailed, ClusterError, UsageError
from schedproof.pods import Pod, Pods
from schedproof.watch.deadlines import Deadline

HOLD = Deadline("HOLD", 0.5, "a test")
Hold = Callable[[], pending.Held]
SA = "system:serviceaccount:kube-system:my-scheduler"


@pytest.fixture
def pods(server: Any, api: Api) -> Pods:
    """The pods of namespace ``ns``, among them ``pod3``."""
    server.pod("pod3")
    return Pods(api, "ns")


@pytest.fixture
def pod3(pods: Pods) -> Pod:
    """The pod that stays Pending."""
    found = pods.get("pod3")
    assert found is not None
    return found


@pytest.fixture
def control(server: Any, pods: Pods) -> Callable[[], list[Pod]]:
    """Make a positive control, which is bound at once."""

    def make() -> list[Pod]:
        server.objects.pop(("pods", "ns", "control"), None)
        server.pod("control")
        made = [pod for pod in pods.list() if pod.name == "control"]
        server.pod("control", node="n1")
        return made

    return make


def held(pod: Pod, api: Api, audit: AuditLog | None, control: Any, **more: Any) -> pending.Held:
    return pending.assert_stays_pending([pod], api=api, audit=audit, controls=control, hold=HOLD, **more)


@pytest.fixture
def hold(pod3: Pod, api: Api, audit: AuditLog, control: Any) -> Hold:
    """Hold ``pod3`` with one control, followed in the audit log."""
    return lambda: held(pod3, api, audit, control)


def test_a_pod_to_which_nothing_happens_stays_pending(pod3: Pod, api: Api, audit: AuditLog, control: Any) -> None:
    result = held(pod3, api, audit, control, fences=control)
    assert result.seconds >= HOLD.seconds
    assert (len(result.controls), len(result.fences)) == (1, 1)


def test_a_pod_that_is_bound_at_first_fails_at_once(server: Any, pod3: Pod, api: Api, control: Any) -> None:
    server.pod("pod3", node="n1")
    with pytest.raises(ClaimFailed, match=r"pod3 stays Pending for 0\.5 s"):
        held(pod3, api, None, control)
    assert "watch" not in server.verbs()


def test_a_pod_that_is_bound_in_the_window_fails_and_tells_by_whom(
    server: Any, pod3: Pod, api: Api, audit: AuditLog, control: Any
) -> None:
    def bound_meanwhile() -> list[Pod]:
        server.bind("pod3", "n2", SA, process="my-scheduler-x")
        return list(control())

    with pytest.raises(ClaimFailed) as failure:
        held(pod3, api, audit, bound_meanwhile)
    text = str(failure.value)
    assert "into the window: it is bound to n2" in text
    assert f"{SA} (pod my-scheduler-x) binds it to n2: 201 (kube-scheduler/v1.37.2" in text
    assert failure.value.category == "behaviour"


def test_a_condition_fails_and_tells_who_set_it(server: Any, note: Any, hold: Hold, line: Callable[..., str]) -> None:
    conditions = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    server.pod("pod3", conditions=conditions)
    note(line("status", SA, name="pod3", body={"status": {"conditions": conditions}}))
    with pytest.raises(ClaimFailed, match=rf"PodScheduled=False Unschedulable[\s\S]*{SA} sets PodScheduled=False"):
        hold()


def test_an_event_alone_fails(server: Any, pod3: Pod, api: Api, audit: AuditLog, control: Any) -> None:
    server.event("pod3", "my-scheduler", "FailedScheduling")
    with pytest.raises(ClaimFailed, match="an event: Normal FailedScheduling by my-scheduler"):
        held(pod3, api, audit, control)


@pytest.mark.parametrize("with_uid", [True, False], ids=["409", "403-without-uid"])
def test_a_refused_binding_request_alone_fails(
    note: Any, pod3: Pod, hold: Hold, line: Callable[..., str], with_uid: bool
) -> None:
    code, uid, body = (409, pod3.uid, None) if with_uid else (403, "", dict[str, Any]())
    note(line("binding", SA, code=code, name="pod3", uid=uid, body=body, node="n1"))
    with pytest.raises(ClaimFailed, match=rf"asked for its binding and was refused[\s\S]*: {code}"):
        hold()


def test_a_binding_request_for_an_earlier_pod_of_the_name_does_not_count(
    note: Any, hold: Hold, line: Callable[..., str]
) -> None:
    earlier = datetime.now(UTC) - timedelta(seconds=60)
    note(line("binding", SA, code=403, name="pod3", body={}, at=earlier))
    hold()


def test_a_pod_that_is_deleted_fails_and_tells_by_whom(server: Any, api: Api, hold: Hold) -> None:
    server.on_watch.append(lambda: api.delete("Pod", "pod3", "ns"))
    with pytest.raises(ClaimFailed, match=r"it is gone\n.*kubernetes-admin deletes pod3: 200") as failure:
        hold()
    assert "likely cause" not in str(failure.value)


def test_a_control_that_is_not_bound_says_nothing_about_the_claim(
    pod3: Pod, api: Api, pods: Pods, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "CONTROL", Deadline("CONTROL", 0.1, "a test"))
    with pytest.raises(ClusterError, match="positive control pod3") as error:
        held(pod3, api, None, lambda: [pods.get("pod3")])
    assert error.value.category == "harness"


def test_a_control_that_no_scheduler_had_to_bind_is_refused(server: Any, pods: Pods, pod3: Pod, api: Api) -> None:
    def preset() -> list[Pod]:
        server.pod("control", node="n1")
        return [pod for pod in pods.list() if pod.name == "control"]

    with pytest.raises(UsageError, match="on a node from the first"):
        held(pod3, api, None, preset)


def test_a_hold_without_a_control_is_refused(pod3: Pod, api: Api) -> None:
    with pytest.raises(UsageError, match="positive control"):
        held(pod3, api, None, list)
    with pytest.raises(UsageError, match="at least one"):
        pending.assert_stays_pending([], api=api, audit=None, controls=list)


def test_a_server_that_is_gone_at_the_end_is_an_error_of_the_harness(
    server: Any, pod3: Pod, api: Api, control: Any
) -> None:
    class Last(Pod):
        def wait_until_bound(self, deadline: Deadline = HOLD) -> str:
            node = super().wait_until_bound(deadline)
            server.fault("list", times=10_000, action="drop")
            server.fault("watch", times=10_000, action="drop")
            return node

    with pytest.raises(ApiError, match="end of the hold"):
        held(pod3, api, None, lambda: [Last(api, pod.made) for pod in control()])


def test_time_that_has_passed_since_the_scheduler_was_gone_counts(
    pod3: Pod, api: Api, control: Any, server: Any
) -> None:
    long_ago = datetime.now(UTC) - timedelta(seconds=60)
    pod3.made["metadata"]["creationTimestamp"] = long_ago.strftime("%Y-%m-%dT%H:%M:%SZ")
    result = held(pod3, api, None, control, since=long_ago.timestamp())
    assert result.seconds > 50
    assert "watch" not in server.verbs()


def test_time_before_the_pods_were_made_does_not_count(pod3: Pod, api: Api, control: Any, server: Any) -> None:
    held(pod3, api, None, control, since=(datetime.now(UTC) - timedelta(seconds=60)).timestamp())
    assert "watch" in server.verbs()


def test_bodies_of_lines_are_as_the_api_server_writes_them(line: Callable[..., str]) -> None:
    assert json.loads(line("binding", SA, uid="u", node="n"))["requestObject"]["target"]["name"] == "n"
