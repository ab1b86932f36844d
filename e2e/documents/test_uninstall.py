"""Uninstalled: what it had bound stays bound, nothing of the scheduler is left, and its pods wait again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from schedproof.assertions import assert_nothing_left
from schedproof.binder import DEFAULT

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge


@pytest.mark.claim("uninstalled", lines=["A-24", "B-44"])
def test_uninstalled_scheduler_leaves_nothing_and_its_pods_wait_again(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Uninstalled: pod1 and pod2 are still bound, nothing of the scheduler is left, and a new pod3 stays Pending."""
    second = schedulers.deploy()
    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))
    nodes = [pod1.wait_until_bound(), pod2.wait_until_bound()]

    second.uninstall()
    uninstalled = time.time()

    assert_nothing_left(second)
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    control = manifests.pod("pod1", name="control", input="control")
    binder.assert_stays_pending([pod3], controls=lambda: [pods.apply(control)], since=uninstalled)
    assert [pod.current()["spec"]["nodeName"] for pod in (pod1, pod2)] == nodes
    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)
