"""Waiting: returns with the event, keeps its deadline whatever happens on the way, says why it ended."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from schedproof import watch
from schedproof.api import Api, Forbidden, Object
from schedproof.errors import ApiError, Unreachable, WaitTimeout
from schedproof.watch.deadlines import Deadline
from schedproof.watch.wait import wait_until

SOON = Deadline("SOON", 5, "a test's pods change at once")
SHORT = Deadline("SHORT", 0.5, "a test does not wait long")


def bound(pods: list[Object]) -> bool:
    return bool(pods) and all(pod["spec"].get("nodeName") for pod in pods)


def wait(api: Api, deadline: Deadline = SOON, **more: Any) -> list[Object]:
    return wait_until(api, "Pod", "ns", bound, deadline=deadline, expected="pod1 is bound", **more)


def test_a_state_that_is_there_already_needs_no_watch(server: Any, api: Api) -> None:
    server.pod("pod1", node="n1")
    assert wait(api)[0]["spec"]["nodeName"] == "n1"
    assert server.verbs() == ["list"]


def test_a_wait_returns_with_the_event(server: Any, api: Api) -> None:
    server.pod("pod1")
    told: list[float] = []

    def bind() -> None:
        told.append(time.perf_counter())
        server.pod("pod1", node="n1")

    server.on_watch.append(bind)
    wait(api)
    assert time.perf_counter() - told[0] < 2


def test_a_change_between_list_and_watch_is_not_missed(server: Any, api: Api) -> None:
    server.pod("pod1")
    seen: list[list[Object]] = []

    def ready(pods: list[Object]) -> bool:
        if not seen:
            server.pod("pod1", node="n1")  # before the watch is opened
        seen.append(pods)
        return bound(pods)

    wait_until(api, "Pod", "ns", ready, deadline=SOON, expected="bound")
    assert len(seen) == 2


def test_a_deleted_object_is_no_longer_given_to_ready(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.on_watch.append(lambda: server.remove("pods", "ns", "pod1"))
    gone = wait_until(api, "Pod", "ns", lambda pods: not pods, deadline=SOON, expected="gone")
    assert gone == []


def test_only_selected_objects_are_seen(server: Any, api: Api) -> None:
    server.pod("pod1", node="n1")
    server.pod("other")
    assert len(wait(api, labels="app=pod1")) == 1
    assert len(wait(api, fields="metadata.name=pod1")) == 1


def test_a_timeout_tells_deadline_reason_and_last_state(server: Any, api: Api) -> None:
    server.pod("pod1")
    with pytest.raises(WaitTimeout) as timeout:
        wait(api, SHORT)
    assert timeout.value.category == "behaviour"
    text = str(timeout.value)
    assert "within 0.5 s (deadline SHORT: a test does not wait long)" in text
    assert "Pod ns/pod1: Pending, for my-scheduler, bound to no node, no condition" in text


def test_a_timeout_without_any_object_says_so(api: Api) -> None:
    with pytest.raises(WaitTimeout, match="there is none"):
        wait(api, SHORT)


def test_a_hopeless_state_ends_the_wait_at_once(server: Any, api: Api) -> None:
    server.pod("pod1")
    with pytest.raises(Unreachable, match=r"pod1 is bound[\s\S]*likely cause: *it is over"):
        wait(api, hopeless=lambda _pods: "it is over")


def test_a_missing_rule_ends_the_wait_at_once(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", code=403, message='User "u" cannot watch resource "pods" in API group ""')
    with pytest.raises(Forbidden, match=r'verbs: \["watch"\]'):
        wait(api)


def test_410_as_an_event_makes_a_new_list(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", action="error-event", code=410, message="too old resource version")
    server.on_watch.append(lambda: server.pod("pod1", node="n1"))
    wait(api)
    assert server.verbs() == ["list", "watch", "list"]


def test_410_as_an_answer_makes_a_new_list(server: Any, api: Api) -> None:
    server.pod("pod1")

    def ready(pods: list[Object]) -> bool:
        server.on_watch[:] = [lambda: server.pod("pod1", node="n1")]
        return bound(pods)

    server.fault("watch", code=410, message="too old resource version")
    wait_until(api, "Pod", "ns", ready, deadline=SOON, expected="bound")
    assert server.verbs() == ["list", "watch", "list", "watch"]


@pytest.mark.parametrize(
    "fault",
    [
        {"action": "error-event", "code": 410},
        {"code": 410},
        {"action": "drop"},
        {"code": 503},
        {"code": 429},
        {"action": "end"},
    ],
    ids=["410-event", "410", "dropped", "503", "429", "ends-at-once"],
)
def test_the_deadline_holds_and_nothing_spins_when_every_watch_fails(server: Any, api: Api, fault: Any) -> None:
    server.pod("pod1")
    server.fault("watch", times=10_000, **fault)
    began = time.monotonic()
    with pytest.raises(WaitTimeout, match="pod1: Pending"):
        wait(api, SHORT)
    assert time.monotonic() - began < 20
    assert len(server.verbs()) < 20


def test_a_cut_stream_is_taken_up_from_the_last_version(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", action="cut")
    server.on_watch.append(lambda: server.pod("pod1", phase="Pending"))

    def ready(pods: list[Object]) -> bool:
        if server.verbs() == ["list", "watch"]:
            server.pod("pod1", node="n1")  # while the stream is being cut
        return bound(pods)

    wait_until(api, "Pod", "ns", ready, deadline=SOON, expected="bound")
    assert server.verbs() == ["list", "watch", "watch"]


def test_a_silent_stream_is_left_and_opened_again(server: Any, api: Api) -> None:
    api.silence = 0.1
    server.pod("pod1")
    server.fault("watch", action="silent")
    server.on_watch.append(lambda: server.pod("pod1", node="n1"))
    wait(api)
    assert server.verbs() == ["list", "watch", "watch"]


def test_a_silent_stream_does_not_outlast_the_deadline(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", times=10_000, action="silent")
    began = time.monotonic()
    with pytest.raises(WaitTimeout):
        wait(api, SHORT)
    assert time.monotonic() - began < 20


def test_a_state_reached_during_silence_is_seen_by_a_last_look(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", times=10_000, action="silent")

    def ready(pods: list[Object]) -> bool:
        if not bound(pods):
            server.pod("pod1", node="n1")
        return bound(pods)

    assert bound(wait_until(api, "Pod", "ns", ready, deadline=SHORT, expected="bound"))


def test_an_event_shortly_before_the_end_does_not_prolong_the_wait(server: Any, api: Api) -> None:
    server.pod("pod1")
    timer = threading.Timer(0.3, lambda: server.pod("pod1", phase="Pending"))
    timer.start()
    began = time.monotonic()
    with pytest.raises(WaitTimeout):
        wait(api, SHORT)
    timer.join()
    assert time.monotonic() - began < 20


def test_a_server_that_is_gone_at_the_end_is_an_error_of_the_harness(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", times=10_000, action="silent")

    def gone_after_the_first_list(_pods: list[Object]) -> bool:
        server.fault("list", times=10_000, action="drop")
        return False

    with pytest.raises(ApiError, match=r"last state before that:[\s\S]*Pod ns/pod1") as error:
        wait_until(api, "Pod", "ns", gone_after_the_first_list, deadline=SHORT, expected="bound")
    assert error.value.category == "harness"


def test_a_server_that_never_answered_is_an_error_of_the_harness(server: Any, api: Api) -> None:
    server.fault("list", times=10_000, action="drop")
    with pytest.raises(ApiError, match="still so at the end of SHORT"):
        wait(api, SHORT)


def test_a_server_that_comes_back_in_time_is_waited_for(server: Any, api: Api) -> None:
    server.pod("pod1")
    server.fault("watch", times=2, code=503)
    server.on_watch.append(lambda: server.pod("pod1", node="n1"))
    wait(api)


def test_time_spent_waiting_is_counted_once_for_waits_side_by_side(api: Api) -> None:
    before, began = watch.waited(), time.monotonic()

    def wait_in_vain() -> None:
        with pytest.raises(WaitTimeout):
            wait(api, SHORT)

    threads = [threading.Thread(target=wait_in_vain) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.4 < watch.waited() - before <= time.monotonic() - began
