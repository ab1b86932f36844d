"""Rights: the built-in roles right by right, the table of what each is for, and what is missing, read from a log."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from schedproof import data
from schedproof.deploy import bundle, refusals, rights, rights_table, standby, tasks
from schedproof.deploy.manifests import load, renamed
from schedproof.errors import ClaimFailed

ROLES: list[dict[str, Any]] = [
    {"rules": [
        {"apiGroups": [""], "resources": ["persistentvolumes", "nodes"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["kube-scheduler"],
         "verbs": ["get", "update"]},
    ]},
    {"rules": [{"apiGroups": [""], "resources": ["persistentvolumes"], "verbs": ["list", "patch", "update"]}]},
]  # fmt: skip
SOUND = renamed(load(data.manifests("kubernetes", "second-scheduler")), name="red", image="s:1")


def test_roles_become_rights_each_once() -> None:
    found = {right.id: right.verbs for right in rights.of_roles(ROLES)}
    assert found == {
        "read nodes": ("get", "list", "watch"),
        "read persistentvolumes": ("get", "list", "watch"),
        "write persistentvolumes": ("patch", "update"),
        "read leases.coordination.k8s.io kube-scheduler": ("get",),
        "write leases.coordination.k8s.io kube-scheduler": ("update",),
    }


def test_a_bundle_has_exactly_the_rights_that_it_is_given() -> None:
    given = rights.without(rights.of_roles(ROLES), {"read nodes"})
    made = rights.bundle_with(SOUND, given)
    roles = [obj for obj in made if obj["kind"] == "ClusterRole"]
    assert rights.of_roles(roles) == given
    bound = {obj["roleRef"]["name"] for obj in made if obj["kind"] == "ClusterRoleBinding"}
    assert bound == {roles[0]["metadata"]["name"]} == {"red"}
    assert [obj["metadata"]["name"] for obj in made if obj["kind"] == "StorageClass"] == [bundle.served(made)[0]]


def test_a_right_that_the_table_does_not_know_is_told() -> None:
    known = rights.of_roles(ROLES)
    rights.assert_all_known(known)
    new = rights.Right("scheduling.k8s.io", "podgroups", "", writes=False, verbs=("list",))
    with pytest.raises(ClaimFailed) as caught:
        rights.assert_all_known([*known, new])
    assert "it does not know: read podgroups.scheduling.k8s.io (list)" in str(caught.value)


def test_the_table_has_each_right_once_and_loses_only_tasks_that_there_are() -> None:
    each = [*rights_table.TO_START, *rights_table.TO_WORK, *rights_table.NOT_NEEDED]
    assert len(each) == len(set(each))
    assert all(set(lost) <= tasks.ALL for lost in rights_table.TO_WORK.values())


def test_the_trouble_of_a_missing_right_names_that_one_alone() -> None:
    trouble = rights.missing(next(right for right in rights.of_roles(ROLES) if right.id == "read nodes"))
    log = 'User "u" cannot list resource "nodes" in API group "" at the cluster scope\n'
    assert trouble.named_in(refusals.cause(log))
    both = log + 'User "u" cannot list resource "pods" in API group "" at the cluster scope\n'
    assert not trouble.named_in(refusals.cause(both))


def test_the_cure_of_many_refusals_tells_some_and_how_many_more() -> None:
    log = "".join(f'User "u" cannot list resource "r{n}" in API group "" at the cluster scope\n' for n in range(5))
    assert [rule.resource for rule in refusals.rules(log * 2)] == ["r0", "r1", "r2", "r3", "r4"]
    assert refusals.cure(log).endswith("; and 2 more")
    assert refusals.cure("") == refusals.cause("") == ""


LEASE: dict[str, Any] = {
    "metadata": {"name": "red", "namespace": "kube-system"},
    "spec": {"holderIdentity": "other-0_1f", "leaseDurationSeconds": 15, "renewTime": "2026-12-04T04:00:00.000000Z"},
}
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
POD: dict[str, Any] = {"metadata": {"name": "red-1"}, "spec": {"nodeName": "w"}, "status": READY}
NOW = datetime(2026, 12, 4, 4, 0, 7, tzinfo=UTC)


def test_who_stands_by_is_told_behind_whom() -> None:
    assert standby.behind(LEASE, [POD], now=NOW) == (
        "it stands by: the lease kube-system/red is held by other-0_1f, none of its Pods, "
        "which renewed it 7 s ago; it lasts 15 s"
    )


@pytest.mark.parametrize(
    ("lease", "pods"),
    [
        (None, [POD]),
        ({**LEASE, "spec": {}}, [POD]),
        ({**LEASE, "spec": {"holderIdentity": "red-1_1f"}}, [POD]),
        ({**LEASE, "spec": {"holderIdentity": "w_1f"}}, [{**POD, "spec": {"nodeName": "w", "hostNetwork": True}}]),
        (LEASE, [{**POD, "status": {}}]),
    ],
    ids=["no lease", "nobody holds it", "it holds it", "it holds it by its node's name", "it is not Ready"],
)
def test_who_leads_or_has_not_started_does_not_stand_by(lease: Any, pods: list[dict[str, Any]]) -> None:
    assert standby.behind(lease, pods, now=NOW) == ""
