"""Verify that the pods were scheduled by the desired schedulers: by the order of things, and by the events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.assertions import assert_event_sources, assert_scheduled_event
from schedproof.binder import DEFAULT

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.cluster.facts import Facts


@pytest.mark.claim("pods-first", lines=["A-55", "A-56", "A-57", "A-58", "B-44"])
def test_pod_submitted_before_its_scheduler_waits_for_it(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Pods first: pod3 stays Pending while the others are bound; once its scheduler is deployed, it is bound."""
    second = schedulers.create()
    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))

    control = manifests.pod("pod1", name="control", input="control")
    binder.assert_stays_pending([pod3], controls=lambda: [pods.apply(control)])
    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)

    second.deploy().wait_until_ready()
    binder.assert_bound_by(pod3, second)


@pytest.mark.claim("scheduled-events", lines=["A-59", "B-46"])
def test_scheduled_events_name_the_right_scheduler_for_all_three_pods(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The Scheduled event of each of the three pods names the scheduler that bound it."""
    second = schedulers.deploy()
    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)
    binder.assert_bound_by(pod3, second)

    assert_scheduled_event(pod1, by="default-scheduler")
    assert_scheduled_event(pod2, by="default-scheduler")
    assert_scheduled_event(pod3, by=second.name)


@pytest.mark.claim("kubectl-get-events", lines=["A-04", "A-59", "B-45", "B-46"])
def test_kubectl_get_events_shows_both_schedulers_as_sources(
    facts: Facts, namespace: str, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """`kubectl get events -o wide` shows for each of the three pods, as SOURCE of Scheduled, who bound it."""
    second = schedulers.deploy()
    pod1 = pods.apply(manifests.pod("pod1"))
    pod2 = pods.apply(manifests.pod("pod2"))
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    binder.assert_bound_by(pod1, DEFAULT)
    binder.assert_bound_by(pod2, DEFAULT)
    binder.assert_bound_by(pod3, second)
    for pod in (pod1, pod2, pod3):
        pod.scheduled_events()  # waits for them: they come right after the binding

    assert_event_sources(
        facts,
        manifests.input("current-namespace", namespace),
        {pod1.name: "default-scheduler", pod2.name: "default-scheduler", pod3.name: second.name},
    )
