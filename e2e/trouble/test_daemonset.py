"""A DaemonSet whose pods ask for a scheduler that is away: each waits, and each lands on its own node later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts

MADE = "app.kubernetes.io/name=scheduled-by-my-scheduler"


@pytest.mark.claim("daemonset-waits", lines=["B-44"])
def test_pods_of_a_daemonset_wait_for_their_scheduler_and_land_each_on_its_own_node(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Pods of a DaemonSet wait while their scheduler is scaled to 0; then each is bound to its own node (N2)."""
    second = schedulers.deploy(replicas=0)
    nodes = sorted(facts.workers or facts.control_planes)
    api.create(manifests.workload("daemonset", schedulerName=second.name))
    waiting = pods.wait_until_made(MADE, len(nodes))

    pod1 = manifests.pod("pod1")
    binder.assert_stays_pending(waiting, controls=lambda: [pods.apply(pod1)])

    second.scale(1)
    assert sorted(binder.assert_bound_by(pod, second).node for pod in waiting) == nodes
