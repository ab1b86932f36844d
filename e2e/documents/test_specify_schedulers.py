"""Specify schedulers for pods: each pod is bound by the scheduler that its spec names, and by nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.binder import DEFAULT

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge


@pytest.mark.claim("pod1-bound-by-default-scheduler", lines=["A-44", "A-47"])
def test_pod_without_scheduler_name_is_bound_by_the_default_scheduler(
    manifests: Manifests, pods: ClaimPods, binder: Judge
) -> None:
    """A pod that names no scheduler is bound by the default scheduler."""
    manifest = manifests.pod("pod1")
    assert "schedulerName" not in manifest["spec"]

    pod1 = pods.apply(manifest)

    binder.assert_bound_by(pod1, DEFAULT)


@pytest.mark.claim("pod2-bound-by-default-scheduler", lines=["A-46", "A-47", "A-48"])
def test_pod_that_names_the_default_scheduler_is_bound_by_it(
    manifests: Manifests, pods: ClaimPods, binder: Judge
) -> None:
    """A pod that names default-scheduler is bound by the default scheduler."""
    manifest = manifests.pod("pod2")
    assert manifest["spec"]["schedulerName"] == "default-scheduler"

    pod2 = pods.apply(manifest)

    binder.assert_bound_by(pod2, DEFAULT)


@pytest.mark.claim("pod3-bound-by-my-scheduler", lines=["A-08", "A-23", "A-24", "A-42", "A-43", "A-49", "B-06"])
def test_pod_that_names_the_second_scheduler_is_bound_by_it_and_by_nobody_else(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """A pod that names the second scheduler is bound by it and by nobody else."""
    second = schedulers.deploy()

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))

    binder.assert_bound_by(pod3, second)


@pytest.mark.claim("all-three-running", lines=["A-52", "B-07"])
def test_all_three_pods_run(manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge) -> None:
    """All three pods run, each bound by the scheduler that it names."""
    second = schedulers.deploy()

    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))

    for pod in (pod1, pod2, pod3):
        pod.wait_until_running()
    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)
    binder.assert_bound_by(pod3, second)
