"""Two schedulers that get in each other's way: one name for both, or the last place on a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from schedproof.binder import invariants, races
from schedproof.deploy.rival import rival_of
from schedproof.errors import ClaimFailed

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.binder.audit import AuditLog
    from schedproof.cluster.facts import Facts

TWO = "two schedulers serve one name"


@pytest.mark.claim("two-of-one-name", lines=["A-22", "B-08"])
def test_two_schedulers_of_one_name_bind_each_pod_once_and_are_told_of(
    audit: AuditLog,
    manifests: Manifests,
    pods: ClaimPods,
    schedulers: Schedulers,
    waive: Callable[[str], None],
    measured: Callable[[str], None],
) -> None:
    """50 pods: each gets one node, one of the two is refused now and then, and the harness names why (case N5)."""
    waive(invariants.RIVALS)
    first = schedulers.deploy()
    second = schedulers.deploy(objects=manifests.input("rival", rival_of(first.objects)))

    made = [
        pods.apply(manifests.pod("pod3", name=f"pod{number}", input="pod", schedulerName=first.name))
        for number in range(50)
    ]
    for pod in made:
        pod.wait_until_bound()

    seen = races.contest(made, audit=audit)
    measured(f"bound {dict(seen.bound)}, refused with 409 {dict(seen.refused)}")
    assert set(seen.bound) | set(seen.refused) == {first.identity, second.identity}, "both served the name"
    assert TWO in first.cause() + second.cause(), f"neither scheduler's cause says that {TWO}"


@pytest.mark.claim("last-place-raced", lines=["A-01"])
def test_two_schedulers_after_the_last_place_leave_one_pod_running(
    api: Api,
    facts: Facts,
    manifests: Manifests,
    pods: ClaimPods,
    schedulers: Schedulers,
    measured: Callable[[str], None],
) -> None:
    """One port of one node, two schedulers, two pods at once: one runs, the other waits or is refused (case N4)."""
    second = schedulers.deploy()
    place = {"kubernetes.io/hostname": (facts.workers or facts.control_planes)[0]}
    outcomes: Counter[str] = Counter()

    for number in range(6):
        names = {f"default-{number}": "default-scheduler", f"second-{number}": second.name}
        both = [manifests.pod("pod3", name=name, schedulerName=by, nodeSelector=place) for name, by in names.items()]
        for pod in both:
            pod["spec"]["tolerations"] = [{"operator": "Exists"}]
            pod["spec"]["containers"][0]["ports"] = manifests.input("ports", [{"containerPort": 80, "hostPort": 19999}])
        made = [pods.apply(pod) for pod in both]
        outcomes[races.settle(made, api=api)] += 1
        for one in made:
            one.delete(grace=0)
        for one in made:
            one.wait_until_gone()

    measured(f"of the two the loser was {dict(outcomes)}")
    assert outcomes.total() == 6


@pytest.mark.claim("preset-node", lines=[])
def test_pod_with_a_preset_node_bypasses_all_schedulers(manifests: Manifests, pods: ClaimPods, binder: Judge) -> None:
    """It runs although nobody serves its scheduler's name, without a Scheduled event, and the judge says so (N3)."""
    somewhere = pods.apply(manifests.pod("pod1", name="probe", input="probe")).wait_until_bound()

    preset = pods.apply(manifests.pod("pod3", schedulerName="nobody", nodeName=manifests.input("node", somewhere)))

    preset.wait_until_running()
    assert preset.scheduled_events() == []
    with pytest.raises(ClaimFailed, match="nodeName was preset in its spec: it bypassed all schedulers"):
        binder.bound_by(preset)
