"""The leader goes, in order or by a crash, or freezes: how long nobody leads, and no pod is lost or bound twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from schedproof.deploy.replicas import Replicas

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.binder.audit import AuditLog


@pytest.fixture
def replicas(api: Api, audit: AuditLog, manifests: Manifests, schedulers: Schedulers) -> Replicas:
    """Two replicas of a scheduler with a lease of their own, of which one leads."""
    return Replicas(api, audit, schedulers.deploy(objects=manifests.scheduler(file="elected-scheduler")))


@pytest.mark.claim("leader-hands-over", lines=["B-34", "B-35", "B-36"])
def test_leader_that_is_told_to_end_hands_over_at_once(
    replicas: Replicas, manifests: Manifests, pods: ClaimPods, binder: Judge, measured: Callable[[str], None]
) -> None:
    """SIGTERM: the leader gives its lease up, another has it within one look, and binds what came in between (L5)."""
    change = replicas.end_leader()
    waiting = [
        pods.apply(manifests.pod("pod3", name=f"waiting{number}", schedulerName=replicas.scheduler.name))
        for number in range(5)
    ]

    gap = replicas.wait_until_taken_over(change)
    measured(f"gap {gap:.1f} s; by its lease at most {replicas.timing.hand_over:.1f} s")
    replicas.assert_gap_within(gap, 0.0, replicas.timing.hand_over)
    for pod in waiting:
        binder.assert_bound_by(pod, replicas.scheduler)
    replicas.assert_changed_hands_once(change)


@pytest.mark.claim("leader-crashes", lines=["B-34", "B-35", "B-36"])
def test_crashed_leader_is_followed_when_its_lease_has_ended(
    replicas: Replicas, manifests: Manifests, pods: ClaimPods, binder: Judge, measured: Callable[[str], None]
) -> None:
    """SIGKILL in the node: nobody binds until the lease has ended, then another binds what came in between (L5)."""
    change = replicas.kill_leader()
    waiting = [
        pods.apply(manifests.pod("pod3", name=f"waiting{number}", schedulerName=replicas.scheduler.name))
        for number in range(5)
    ]

    gap = replicas.wait_until_taken_over(change)
    shortest, longest = replicas.timing.crash_gap
    measured(f"gap {gap:.1f} s; by its lease {shortest:.1f} to {longest:.1f} s")
    replicas.assert_gap_within(gap, shortest, longest)
    for pod in waiting:
        binder.assert_bound_by(pod, replicas.scheduler)
    replicas.assert_changed_hands_once(change)


@pytest.mark.claim("leader-freezes", lines=["B-35"])
def test_frozen_leader_that_wakes_up_binds_nothing_twice_and_ends(
    replicas: Replicas, manifests: Manifests, pods: ClaimPods, measured: Callable[[str], None]
) -> None:
    """SIGSTOP until another leads, then SIGCONT: no pod is bound twice, and the old leader soon ends (case L7)."""
    change = replicas.freeze_leader()
    waiting = [
        pods.apply(manifests.pod("pod3", name=f"waiting{number}", schedulerName=replicas.scheduler.name))
        for number in range(5)
    ]
    replicas.wait_until_taken_over(change)

    seconds = replicas.thaw(change)
    for pod in waiting:
        pod.wait_until_bound()
    late = replicas.assert_each_bound_once(waiting)
    measured(f"the old leader ended {seconds:.1f} s after it woke up; late attempts of its: {late}")
