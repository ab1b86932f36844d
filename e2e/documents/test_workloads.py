"""The scheduler's name in a pod template: every pod of a workload is bound by the scheduler that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts

REPLICAS = 6
MADE = "app.kubernetes.io/name=scheduled-by-my-scheduler"


@pytest.mark.claim("deployment-of-pods", lines=["A-23", "A-43"])
def test_every_pod_of_a_deployment_is_bound_by_the_scheduler_in_its_template(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Every pod of a Deployment whose template names the second scheduler is bound by it."""
    second = schedulers.deploy()
    deployment = manifests.workload("deployment", schedulerName=second.name)
    deployment["spec"]["replicas"] = REPLICAS

    api.create(deployment)

    for pod in pods.wait_until_all_bound(MADE, REPLICAS):
        binder.assert_bound_by(pod, second)


@pytest.mark.claim("daemonset-of-pods", lines=["A-23", "A-43"])
def test_every_pod_of_a_daemonset_is_bound_to_its_own_node_by_the_scheduler_in_its_template(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Every pod of a DaemonSet whose template names the second scheduler is bound by it, each to a node of its own."""
    second = schedulers.deploy()
    nodes = sorted(facts.workers or facts.control_planes)

    api.create(manifests.workload("daemonset", schedulerName=second.name))

    made = pods.wait_until_all_bound(MADE, len(nodes))
    assert sorted(binder.assert_bound_by(pod, second).node for pod in made) == nodes
