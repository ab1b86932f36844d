"""An additional scheduler as a static Pod of the control plane, with kubeconfig and configuration of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.shapes.static_pod import StaticPod

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts


@pytest.mark.claim("static-pod-binds", lines=["B-19", "B-21", "B-22"])
def test_scheduler_in_a_static_pod_binds_with_the_identity_of_its_own_certificate(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """A file in the manifests folder is enough: its kubelet runs it, and it binds as the user in its kubeconfig."""
    static = schedulers.hold(StaticPod(api, facts, manifests.scheduler(file="static-pod")))
    static.deploy().wait_until_ready()

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=static.name))

    bound = binder.assert_bound_by(pod3, static)
    assert bound.identity in ("", static.identity)
    assert static.identity != "system:kube-scheduler"
    assert [mirror["metadata"]["name"] for mirror in static.pods()] == [f"{static.pod}-{static.node}"]


@pytest.mark.claim("static-pod-faults", lines=["B-22", "B-44"])
def test_static_pod_survives_a_kill_and_the_deletion_of_its_mirror_and_ends_with_its_file(
    api: Api, facts: Facts, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Killed, it is restarted; its mirror Pod deleted, it runs on; its file gone, it ends and pods wait."""
    static = schedulers.hold(StaticPod(api, facts, manifests.scheduler(file="static-pod")))
    static.deploy().wait_until_ready()

    static.kill_process()
    first = pods.apply(manifests.pod("pod3", name="first", input="first", schedulerName=static.name))
    static.wait_until_ready()
    binder.assert_bound_by(first, static)

    running = static.process_ids()
    static.delete_mirror()
    shadowless = pods.apply(manifests.pod("pod3", name="shadowless", input="shadowless", schedulerName=static.name))
    binder.assert_bound_by(shadowless, static)
    assert static.process_ids() == running

    gone = static.remove_manifest()
    second = pods.apply(manifests.pod("pod3", name="second", input="second", schedulerName=static.name))
    pod2 = manifests.pod("pod2")
    binder.assert_stays_pending([second], controls=lambda: [pods.apply(pod2)], since=gone)

    static.deploy().wait_until_ready()
    binder.assert_bound_by(second, static)
