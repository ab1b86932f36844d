"""Several schedulers at one time, all of different names: each binds its own pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge


@pytest.mark.claim("three-more-schedulers", lines=["A-01", "A-22", "B-07", "B-08", "B-20"])
def test_three_more_schedulers_bind_their_own_pods_each(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Three more schedulers with three names run at once, and each binds the pods that name it and no others."""
    three = [schedulers.create(input=name).deploy() for name in ("second", "third", "fourth")]
    for scheduler in three:
        scheduler.wait_until_ready()

    asking = {
        pods.apply(manifests.pod("pod3", name=f"{scheduler.name}-{n}", schedulerName=scheduler.name)): scheduler
        for n in (1, 2)
        for scheduler in three
    }

    for pod, scheduler in asking.items():
        binder.assert_bound_by(pod, scheduler)
