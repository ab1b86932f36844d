"""Something is wrong with the scheduler: its pod stays Pending, the cause is named, and its cure binds the pod.

Faults with one symptom look alike from outside. They are shown side by side, and none is taken for another; which words
name which fault stands in schedproof/deploy/troubles.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.deploy import bundle, troubles
from schedproof.deploy.naming import assert_cause_named

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge


@pytest.mark.parametrize("symptom", troubles.SYMPTOMS)
@pytest.mark.claim("cause-named", lines=["B-29", "B-39", "B-42", "B-44"])
def test_cause_of_each_trouble_is_named_and_its_cure_binds_the_waiting_pod(
    symptom: str, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Schedulers in different trouble look alike; each cause is named, and its cure binds the pod that waits."""
    named = troubles.of(symptom)
    sound = [manifests.scheduler() for _ in named]
    broken = [fault.breaks(one) for fault, one in zip(manifests.input("faults", named), sound, strict=True)]
    second = [
        schedulers.create(bundle.served(one)[0], objects=objects).deploy()
        for one, objects in zip(sound, broken, strict=True)
    ]
    waiting = [
        pods.apply(manifests.pod("pod3", name=f"waits-{trouble.id}", input="waiting", schedulerName=scheduler.name))
        for trouble, scheduler in zip(named, second, strict=True)
    ]

    pod1 = manifests.pod("pod1")
    binder.assert_stays_pending(waiting, controls=lambda: [pods.apply(pod1)])
    for trouble, scheduler in zip(named, second, strict=True):
        assert_cause_named(scheduler, trouble)

    for scheduler, objects in zip(second, manifests.input("cures", sound), strict=True):
        scheduler.replace(objects)
    for pod, scheduler in zip(waiting, second, strict=True):
        binder.assert_bound_by(pod, scheduler)
