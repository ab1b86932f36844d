"""Names: a pod belongs to the scheduler of its name for good, and to nobody if no scheduler has that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.assertions import assert_change_refused

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api


@pytest.mark.claim("unknown-name-stays-pending", lines=["A-24", "A-50"])
def test_pod_with_a_name_that_nobody_serves_stays_pending_without_an_event(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """A pod whose scheduler's name nobody serves stays Pending, without condition, event or binding request."""
    second = schedulers.deploy()
    misspelt = second.name.replace("scheduler", "schedular")

    lost = pods.apply(manifests.pod("pod3", name="lost", input="lost", schedulerName=misspelt))

    pod1 = manifests.pod("pod1")
    fence = manifests.pod("pod3", name="fence", input="fence", schedulerName=second.name)
    binder.assert_stays_pending([lost], controls=lambda: [pods.apply(pod1)], fences=lambda: [pods.apply(fence)])


@pytest.mark.claim("name-cannot-be-changed", lines=["A-43"])
def test_scheduler_name_of_a_pod_cannot_be_changed_afterwards(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The scheduler's name on a pod cannot be changed afterwards, so another scheduler cannot take the pod over."""
    second = schedulers.create()
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))

    change = manifests.input("change", {"spec": {"schedulerName": "default-scheduler"}})
    assert_change_refused(api, pod3, change, field="schedulerName")

    second.deploy().wait_until_ready()
    binder.assert_bound_by(pod3, second)
