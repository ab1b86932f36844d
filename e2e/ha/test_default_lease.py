"""Leader election without a lease of one's own: a second scheduler stands by behind the default one, or ousts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.binder import DEFAULT, invariants
from schedproof.deploy import bundle

if TYPE_CHECKING:
    from collections.abc import Callable

    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.shapes.default import DefaultScheduler

STANDS_BY = "it elects its leader with the default scheduler's lease (kube-system/kube-scheduler)"


@pytest.mark.serial
@pytest.mark.claim("default-lease-taken-over", lines=["A-30", "B-38"])
def test_second_scheduler_without_a_lease_of_its_own_stands_by_and_takes_over_when_the_default_restarts(
    default_scheduler: DefaultScheduler,
    waive: Callable[[str], None],
    manifests: Manifests,
    pods: ClaimPods,
    schedulers: Schedulers,
    binder: Judge,
) -> None:
    """Ready and useless behind the default's lease (case L1); then it takes that lease, and pod1 waits (case L2)."""
    waive(invariants.DEFAULT_LEASE)
    objects = manifests.scheduler()
    election = manifests.input("election", {"leaderElect": True})
    content = {**(bundle.configs(objects)[0].content or {}), "leaderElection": election}
    second = schedulers.deploy(objects=bundle.with_config(objects, content))

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    pod2 = manifests.pod("pod2")
    binder.assert_stays_pending([pod3], controls=lambda: [pods.apply(pod2)])
    assert STANDS_BY in second.cause()

    default_scheduler.stop()
    binder.assert_bound_by(pod3, second)
    default_scheduler.start(leads=False)
    taken_over = default_scheduler.wait_until_leads(second.deployment)

    pod1 = pods.apply(manifests.pod("pod1"))
    again = manifests.pod("pod3", name="again", input="again", schedulerName=second.name)
    binder.assert_stays_pending([pod1], controls=lambda: [pods.apply(again)], since=taken_over)

    second.uninstall()
    default_scheduler.wait_until_leads()
    binder.assert_bound_by(pod1, DEFAULT)
