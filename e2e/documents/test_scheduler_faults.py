"""A Deployment for the scheduler, so that it survives faults: taken away, brought back, killed, replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.watch.containers import is_running
from schedproof.watch.deadlines import Deadline

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge

REPLACED = Deadline("REPLACED", 40, "a ReplicaSet makes the next Pod within a second of the last one's end")


@pytest.mark.claim("scheduler-taken-away", lines=["A-19", "A-58", "B-44"])
def test_pods_wait_while_their_scheduler_is_away_and_are_bound_when_it_is_back(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Scheduler away: a new pod stays Pending, the default's are bound, old ones run on; back: the new one is bound."""
    second = schedulers.deploy()
    old = pods.apply(manifests.pod("pod3", name="old", input="old", schedulerName=second.name))
    old.wait_until_running()

    gone = second.stop()
    waiting = pods.apply(manifests.pod("pod3", name="waiting", input="waiting", schedulerName=second.name))
    pod2 = manifests.pod("pod2")
    binder.assert_stays_pending([waiting], controls=lambda: [pods.apply(pod2)], since=gone)
    assert is_running(old.current())

    second.scale(1)
    binder.assert_bound_by(waiting, second)


@pytest.mark.usefixtures("audit")
@pytest.mark.claim("scheduler-killed", lines=["A-17", "A-18", "A-19"])
def test_killed_scheduler_is_replaced_and_waiting_pods_are_bound(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The scheduler's Pod is killed: its Deployment replaces it, and a pod that waited is bound by the new one."""
    second = schedulers.deploy()

    killed = second.kill_pod(REPLACED)
    waiting = pods.apply(manifests.pod("pod3", name="waiting", input="waiting", schedulerName=second.name))
    second.wait_until_ready(REPLACED)

    bound = binder.assert_bound_by(waiting, second)
    assert bound.process in [pod["metadata"]["name"] for pod in second.pods()]
    assert bound.process != killed
