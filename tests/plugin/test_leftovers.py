"""What an interrupted run left in a kept cluster."""

from __future__ import annotations

from typing import Any

import pytest

from fixtures import leftovers
from schedproof.deploy import roles


class Cluster:
    """Objects by kind."""

    def __init__(self, objects: list[tuple[str, str, str, bool]]) -> None:
        self.objects = objects
        self.deleted: list[tuple[str, str, str]] = []

    def list(self, kind: str, namespace: str = "", *, labels: str = "", **_: Any) -> tuple[list[dict[str, Any]], str]:
        assert labels == "app.kubernetes.io/managed-by=schedproof"
        found = [
            {"kind": kind.rpartition("/")[2], "metadata": {"name": name, "namespace": where}}
            for kind_, name, where, ours in self.objects
            if kind_ == kind.rpartition("/")[2] and ours and not namespace
        ]
        return found, "1"

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        self.deleted.append((kind.rpartition("/")[2], name, namespace))


def test_only_what_is_labelled_as_ours_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster: Any = Cluster(
        [
            ("Deployment", "my-scheduler-1a2b3c", "kube-system", True),
            ("Deployment", "coredns", "kube-system", False),
            ("ClusterRoleBinding", "my-scheduler-1a2b3c-volume", "", True),
            ("Namespace", "pods-first-4d5e6f", "", True),
        ]
    )
    forbidden: list[str] = []
    monkeypatch.setattr(roles, "allowed_leases", lambda _: {"kube-scheduler", "my-scheduler-1a2b3c"})
    monkeypatch.setattr(roles, "forbid_lease", lambda _, name: forbidden.append(name))
    found = leftovers.remove(cluster)
    assert cluster.deleted == [
        ("Deployment", "my-scheduler-1a2b3c", "kube-system"),
        ("Namespace", "pods-first-4d5e6f", ""),
        ("ClusterRoleBinding", "my-scheduler-1a2b3c-volume", ""),
    ]
    assert forbidden == ["my-scheduler-1a2b3c"]
    assert "my-scheduler-1a2b3c in ClusterRole/system:kube-scheduler" in found


def test_nothing_is_waited_for_in_a_clean_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roles, "allowed_leases", lambda _: {"kube-scheduler"})
    monkeypatch.setattr(leftovers, "wait_until", None)
    cluster: Any = Cluster([])
    assert leftovers.remove(cluster) == []


def test_bundle_is_labelled_with_its_pods() -> None:
    objects: list[dict[str, Any]] = [
        {"kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"metadata": {"labels": {"x": "y"}}}}},
        {"kind": "ConfigMap", "metadata": {"name": "b", "labels": None}},
    ]
    deployment, config = leftovers.labelled(objects)
    assert deployment["spec"]["template"]["metadata"]["labels"] == {"x": "y", **leftovers.LABEL}
    assert deployment["metadata"]["labels"] == config["metadata"]["labels"] == leftovers.LABEL
