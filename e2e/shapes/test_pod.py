"""An additional scheduler as a Pod: it runs, it schedules, and nobody replaces it when it is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.shapes.pod import BarePod

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts


@pytest.mark.claim("pod-shape-binds", lines=["B-06", "B-23", "B-37", "B-42"])
def test_scheduler_in_a_pod_of_kube_system_runs_and_binds_the_pods_that_name_it(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The Pod my-custom-scheduler of kube-system is Running and Ready, its log can be read, and it binds its pods."""
    custom = schedulers.hold(BarePod(api, facts, manifests.scheduler(file="custom-scheduler-pod")))
    custom.deploy().wait_until_ready()
    assert custom.namespace == "kube-system"

    nginx = pods.apply(manifests.pod("pod3", schedulerName=custom.name))

    bound = binder.assert_bound_by(nginx, custom)
    assert bound.process in ("", custom.pod)
    assert "Starting Kubernetes Scheduler" in custom.logs()


@pytest.mark.claim("pod-shape-faults", lines=["B-23", "B-44"])
def test_killed_container_of_the_pod_is_restarted_and_a_deleted_pod_is_not_replaced(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Its process killed: the kubelet restarts it. The Pod deleted: nobody makes another, and new pods stay Pending."""
    custom = schedulers.hold(BarePod(api, facts, manifests.scheduler(file="custom-scheduler-pod")))
    custom.deploy().wait_until_ready()

    custom.kill_process()
    first = pods.apply(manifests.pod("pod3", name="first", input="first", schedulerName=custom.name))
    custom.wait_until_ready()
    binder.assert_bound_by(first, custom)

    gone = custom.delete_pod()
    second = pods.apply(manifests.pod("pod3", name="second", input="second", schedulerName=custom.name))
    pod2 = manifests.pod("pod2")
    binder.assert_stays_pending([second], controls=lambda: [pods.apply(pod2)], since=gone)
    assert custom.pods() == []

    custom.deploy().wait_until_ready()
    binder.assert_bound_by(second, custom)
