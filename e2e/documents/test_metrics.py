"""What the second scheduler says about its work: /metrics, to those who may read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.assertions import assert_attempts, assert_metrics_answer

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.binder.audit import AuditLog

SINGLE_FILE = pytest.mark.xdist_group("metrics-for-anonymous")
"""A mutant of it grants something to the anonymous everywhere, so its runs come one after the other."""


@pytest.mark.claim("metrics-agree-with-audit-log")
def test_schedule_attempts_of_the_profile_agree_with_the_audit_log(
    audit: AuditLog, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """`schedule_attempts_total` of the profile counts exactly the bindings that the audit log has of this scheduler."""
    second = schedulers.deploy()
    for n in range(1, 6):
        binder.assert_bound_by(pods.apply(manifests.pod("pod3", name=f"pod3-{n}", schedulerName=second.name)), second)

    bindings = [one for one in audit.bindings() if one.accepted and one.user == second.identity]
    assert_attempts(second, {"scheduled": len(bindings)})


@SINGLE_FILE
@pytest.mark.claim("metrics-refused-to-anonymous")
def test_metrics_are_refused_to_the_anonymous(schedulers: Schedulers) -> None:
    """`/metrics` answers whoever may read it, and refuses the anonymous."""
    second = schedulers.deploy()

    assert_metrics_answer(second, 200, authenticated=True)
    assert_metrics_answer(second, 403, authenticated=False)
