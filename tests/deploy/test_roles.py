"""The document's edit of system:kube-scheduler: nothing is lost by it, and it can be undone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from schedproof.api import Refused
from schedproof.deploy import roles
from schedproof.errors import ApiError

ROLE: dict[str, Any] = {
    "kind": "ClusterRole",
    "metadata": {"name": roles.ROLE, "resourceVersion": "7"},
    "rules": [
        {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["kube-scheduler"],
         "verbs": ["get", "update"]},
    ],
}  # fmt: skip


class Cluster:
    """A cluster with that one role, which refuses an edit of an old version."""

    def __init__(self, role: dict[str, Any] | None = None) -> None:
        self.role = copy.deepcopy(role or ROLE)
        self.edits = self.rivals = 0

    def get(self, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        assert (kind, name, namespace) == ("rbac.authorization.k8s.io/v1/ClusterRole", "system:kube-scheduler", "")
        return copy.deepcopy(self.role)

    def patch(self, kind: str, name: str, change: dict[str, Any], namespace: str = "") -> dict[str, Any]:
        assert (kind, name, namespace) == ("rbac.authorization.k8s.io/v1/ClusterRole", "system:kube-scheduler", "")
        assert change["metadata"]["resourceVersion"] == self.role["metadata"]["resourceVersion"]
        if self.rivals:
            self.rivals -= 1
            self.role["rules"] = roles.with_lease(self.role["rules"], f"rival-{self.rivals}")
            raise Refused("PATCH", 409, "the object has been modified", reason="Conflict")
        self.role["rules"] = change["rules"]
        self.edits += 1
        return self.role


@pytest.fixture
def cluster() -> Any:
    return Cluster()


def test_the_edit_adds_the_lease_and_takes_nothing_away(cluster: Any) -> None:
    before = roles.grants(cluster.role)
    roles.allow_lease(cluster, "my-scheduler")
    after = roles.grants(cluster.role)
    assert before < after
    assert {grant[2:] for grant in after - before} == {("my-scheduler", "get"), ("my-scheduler", "update")}
    assert roles.allowed_leases(cluster) == {"kube-scheduler", "my-scheduler"}


def test_undoing_the_edit_restores_the_role(cluster: Any) -> None:
    roles.allow_lease(cluster, "a")
    roles.allow_lease(cluster, "b")
    assert roles.forbid_lease(cluster, "a")
    assert roles.allowed_leases(cluster) == {"kube-scheduler", "b"}
    assert roles.forbid_lease(cluster, "b")
    assert cluster.role["rules"] == ROLE["rules"]


def test_an_edit_that_is_there_already_is_not_made_again(cluster: Any) -> None:
    assert roles.allow_lease(cluster, "a")
    assert not roles.allow_lease(cluster, "a")
    assert cluster.edits == 1
    assert not roles.forbid_lease(cluster, "never-there")


def test_an_edit_by_somebody_else_in_between_is_not_lost(cluster: Any) -> None:
    cluster.rivals = 2
    assert roles.allow_lease(cluster, "a")
    assert roles.allowed_leases(cluster) == {"kube-scheduler", "rival-0", "rival-1", "a"}


def test_edits_that_always_meet_another_one_end(cluster: Any) -> None:
    cluster.rivals = 100
    with pytest.raises(Refused, match="has been modified"):
        roles.allow_lease(cluster, "a")


def test_the_default_schedulers_lease_is_never_taken_away(cluster: Any) -> None:
    assert not roles.forbid_lease(cluster, "kube-scheduler")
    assert cluster.edits == 0


def test_a_role_that_was_overwritten_is_named() -> None:
    cluster: Any = Cluster({**ROLE, "rules": ROLE["rules"][:1]})
    with pytest.raises(ApiError, match="was the role overwritten"):
        roles.allow_lease(cluster, "a")
