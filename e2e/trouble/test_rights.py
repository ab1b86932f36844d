"""The rights of a scheduler: each one of the built-in roles is taken away in turn, and what it was for is seen.

Which right is for what, and which is for nothing that these claims ask, stands in schedproof/deploy/rights_table.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.deploy import rights, rights_table, tasks
from schedproof.deploy.naming import assert_cause_named
from schedproof.deploy.rights import assert_all_known
from schedproof.deploy.tasks import Tasks

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api


@pytest.mark.claim("rights-to-start", lines=["B-42", "B-44"])
def test_without_one_right_to_read_a_scheduler_never_starts_to_schedule_and_the_right_is_named(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """Without any one of the lists that it waits for a scheduler binds nothing, and the missing rule is named (R1)."""
    granted = rights.built_in(api)
    wanted = [right for right in granted if right.id in rights_table.TO_START]
    removed = [manifests.input("removed", [right.id]) for right in wanted]
    second = [
        schedulers.create(objects=rights.bundle_with(manifests.scheduler(), rights.without(granted, gone))).deploy()
        for gone in removed
    ]
    waiting = [
        pods.apply(manifests.pod("pod3", name=f"pod-{one.name}", input="waiting", schedulerName=one.name))
        for one in second
    ]

    pod1 = manifests.pod("pod1")
    binder.assert_stays_pending(waiting, controls=lambda: [pods.apply(pod1)])
    for scheduler, right in zip(second, wanted, strict=True):
        assert_cause_named(scheduler, rights.missing(right), deadline=rights.REFUSED)


@pytest.mark.claim("rights-to-work", lines=["B-44"])
def test_without_one_right_to_write_a_scheduler_does_all_but_what_the_right_is_for(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers
) -> None:
    """Without one right to write a scheduler does everything but what that right is for, as the table says (R6)."""
    granted = rights.built_in(api)
    at_work = {}
    for right, lost in rights_table.TO_WORK.items():
        gone = manifests.input("removed", [right])
        second = schedulers.create(objects=rights.bundle_with(manifests.scheduler(), rights.without(granted, gone)))
        pod = manifests.pod("pod3", schedulerName=second.name)
        at_work[Tasks(api, pods, second.deploy(), pod)] = tasks.ALL - set(lost)

    for work, wanted in at_work.items():
        work.assert_done(wanted)
    for work, wanted in at_work.items():
        work.assert_done(wanted)  # nothing more has been done meanwhile


@pytest.mark.claim("rights-not-needed", lines=[])
def test_without_the_rights_that_are_not_needed_a_scheduler_does_everything(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers
) -> None:
    """The table knows every right of the built-in roles; without all that it calls unneeded everything gets done."""
    granted = manifests.input("granted", rights.built_in(api))
    assert_all_known(granted)
    left = rights.without(granted, manifests.input("removed", list(rights_table.NOT_NEEDED)))

    second = schedulers.create(objects=rights.bundle_with(manifests.scheduler(), left))
    Tasks(api, pods, second.deploy(), manifests.pod("pod3", schedulerName=second.name)).assert_done(tasks.ALL)
