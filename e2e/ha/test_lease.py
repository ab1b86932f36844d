"""Leader election: a lease of a scheduler's own, allowed in two ways, and of several replicas one leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.binder import DEFAULT
from schedproof.deploy import bundle, election, roles

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api


@pytest.mark.claim(
    "lease-by-editing-the-role",
    lines=["A-31", "A-34", "A-35", "A-36", "A-37", "A-38", "A-40", "A-41", "A-60", "B-30", "B-31", "B-32"],
)
def test_scheduler_leads_with_a_lease_of_its_own_once_the_role_is_edited(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """The lease's name added to the role's rule for leases: it leads, and nobody has lost a right (case R7)."""
    objects = manifests.scheduler()
    name = f"lock-object-{bundle.served(objects)[0]}"
    lock = {"leaderElect": True, "resourceNamespace": "kube-system", "resourceName": name}
    content = {**(bundle.configs(objects)[0].content or {}), "leaderElection": lock}
    second = schedulers.create(objects=bundle.with_config(objects, content))
    before = roles.current(api)
    assert before["metadata"]["annotations"]["rbac.authorization.kubernetes.io/autoupdate"] == "true"
    assert before["metadata"]["labels"]["kubernetes.io/bootstrapping"] == "rbac-defaults"

    second.allow_lease(manifests.input("allowed", name))
    second.deploy().wait_until_ready()

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    pod1 = pods.apply(manifests.pod("pod1"))
    binder.assert_bound_by(pod3, second)
    binder.assert_bound_by(pod1, DEFAULT)
    added = roles.grants(roles.current(api)) - roles.grants(before)
    assert {grant for grant in added if grant[2] == name} == {
        ("coordination.k8s.io", "leases", name, verb) for verb in ("get", "list", "update", "watch")
    }
    assert not [
        grant for grant in roles.grants(before) - roles.grants(roles.current(api)) if grant[2] == "kube-scheduler"
    ]


@pytest.mark.usefixtures("audit")
@pytest.mark.claim(
    "one-of-three-leads", lines=["A-32", "A-33", "A-34", "B-30", "B-31", "B-33", "B-34", "B-35", "B-36", "B-38"]
)
def test_of_three_replicas_one_leads_and_binds_and_the_others_stand_by_ready(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Three replicas with a lease allowed by a Role of their own: all Ready, one holder, who alone binds (case L6)."""
    second = schedulers.deploy(objects=manifests.scheduler(file="elected-scheduler", replicas=3))
    assert second.lease is not None

    bound = [
        binder.assert_bound_by(
            pods.apply(manifests.pod("pod3", name=f"pod{number}", schedulerName=second.name)), second
        )
        for number in range(4)
    ]

    leader = election.holder(api, second.lease)
    assert {one.process for one in bound} == {leader.partition("_")[0]}
    assert len(second.pods()) == 3
    assert second.cause() == ""
