"""What looks like trouble and is less: a scheduler that is never Ready and works, a warning, a missing event."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.binder.judge import AUDIT_ONLY
from schedproof.deploy import faults, rights, troubles
from schedproof.deploy.naming import assert_cause_named, assert_no_cause_named

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api


@pytest.mark.claim("probe-on-old-port", lines=["B-42"])
def test_probe_on_the_old_port_is_named_while_pods_are_bound(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """A probe on port 10251: killed again and again, or never Ready though it binds pods; which probe is named (E4)."""
    named = troubles.of(troubles.NOT_READY)
    sound = [manifests.scheduler() for _ in named]
    killed, never_ready = (
        schedulers.create(objects=fault.breaks(one)).deploy()
        for fault, one in zip(manifests.input("faults", named), sound, strict=True)
    )
    pod3 = pods.apply(manifests.pod("pod3", schedulerName=never_ready.name))

    for scheduler, trouble in zip((killed, never_ready), named, strict=True):
        assert_cause_named(scheduler, trouble)
    binder.assert_bound_by(pod3, never_ready)
    killed.wait_until_restarted()

    for scheduler, objects in zip((killed, never_ready), sound, strict=True):
        scheduler.replace(objects).wait_until_ready()


@pytest.mark.claim("warning-is-no-cause", lines=["B-44"])
def test_scheduler_without_the_authentication_reader_binds_pods_and_no_cause_is_named(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Without the role extension-apiserver-authentication-reader pods are bound: a warning, and no cause (R2)."""
    reader = "extension-apiserver-authentication-reader"
    without = manifests.input("without", faults.without_binding_to(reader)(manifests.scheduler()))
    second = schedulers.deploy(objects=without)

    binder.assert_bound_by(pods.apply(manifests.pod("pod3", schedulerName=second.name)), second)

    assert_no_cause_named(second)


@pytest.mark.usefixtures("audit")
@pytest.mark.claim("binder-without-event", lines=["A-59", "B-46"])
def test_binder_of_a_pod_is_known_without_an_event_from_the_audit_log(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Without the right to write events pods are bound all the same, and the audit log alone tells by whom (R6)."""
    removed = manifests.input("removed", ["write events.events.k8s.io"])
    left = rights.without(rights.built_in(api), removed)
    second = schedulers.deploy(objects=rights.bundle_with(manifests.scheduler(), left))

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))

    bound = binder.assert_bound_by(pod3, second)
    assert bound.source == AUDIT_ONLY, f"{pod3.name} was bound by {bound.scheduler}, known from: {bound.source}"
