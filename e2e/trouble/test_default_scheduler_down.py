"""The default scheduler in trouble: its pods wait, others are bound, and who places the other schedulers' own Pods?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.binder import DEFAULT

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.shapes.default import DefaultScheduler

UNPLACED = "its own Pod is not bound to a node: the default scheduler has not placed it"


@pytest.mark.serial
@pytest.mark.claim("default-scheduler-down", lines=["B-44"])
def test_without_the_default_scheduler_its_pods_wait_and_a_dead_second_scheduler_stays_dead(
    default_scheduler: DefaultScheduler, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The default one stopped: its pods stay Pending, ours are bound; then ours dies and nobody places it (case N7)."""
    second = schedulers.deploy()
    gone = default_scheduler.stop()

    pod1 = pods.apply(manifests.pod("pod1"))
    pod3 = manifests.pod("pod3", schedulerName=second.name)
    binder.assert_stays_pending([pod1], controls=lambda: [pods.apply(pod3)], since=gone)

    second.kill_pod()
    waiting = pods.apply(manifests.pod("pod3", name="waiting", input="waiting", schedulerName=second.name))
    assert UNPLACED in second.cause()
    assert waiting.current()["spec"].get("nodeName") is None

    default_scheduler.restore()
    binder.assert_bound_by(pod1, DEFAULT)
    second.wait_until_ready()
    binder.assert_bound_by(waiting, second)
