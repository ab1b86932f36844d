"""kind's configuration and the audit policy say what they have to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from schedproof.cluster import config
from schedproof.data import manifests

SCHEDULER = "system:kube-scheduler"
SECOND = "system:serviceaccount:kube-system:my-scheduler"
ADMIN = "kubernetes-admin"
GROUPS = {
    SCHEDULER: [],
    SECOND: ["system:serviceaccounts", "system:serviceaccounts:kube-system"],
    ADMIN: ["kubeadm:cluster-admins"],
    "system:node:w": ["system:nodes"],
    "system:kube-controller-manager": [],
    "system:serviceaccount:kube-system:namespace-controller": ["system:serviceaccounts"],
    "system:serviceaccount:kube-system:generic-garbage-collector": ["system:serviceaccounts"],
    "by-certificate": [],
}


def level(user: str, verb: str, resource: str, group: str = "", namespace: str = "default") -> str:
    """Return the level of the first rule that matches, as the API server does."""
    for rule in yaml.safe_load(manifests("audit", "policy.yaml").read_text())["rules"]:
        who = {"users": [user], "userGroups": [*GROUPS[user], "system:authenticated"]}
        if any(rule.get(key) and not set(rule[key]) & set(values) for key, values in who.items()):
            continue
        if "verbs" in rule and verb not in rule["verbs"]:
            continue
        if "namespaces" in rule and namespace not in rule["namespaces"]:
            continue
        if "nonResourceURLs" in rule:
            continue
        wanted = rule.get("resources", [])
        if wanted and not any(r["group"] == group and resource in r.get("resources", [resource]) for r in wanted):
            continue
        return str(rule["level"])
    return "None"


@pytest.mark.parametrize("user", list(GROUPS))
def test_binding_of_anybody_is_logged_with_its_node(user: str) -> None:
    assert level(user, "create", "pods/binding") == "Request"
    assert level(user, "create", "bindings") == "Request"


@pytest.mark.parametrize(
    ("request_of", "expected"),
    [
        (("system:kube-controller-manager", "update", "leases", "coordination.k8s.io", "kube-system"), "Request"),
        ((SCHEDULER, "update", "leases", "coordination.k8s.io", "kube-system"), "Request"),
        ((SECOND, "get", "leases", "coordination.k8s.io", "kube-system"), "Metadata"),
        (("system:node:w", "update", "leases", "coordination.k8s.io", "kube-node-lease"), "None"),
        ((SCHEDULER, "patch", "pods/status", "", "default"), "Request"),
        (("system:node:w", "patch", "pods/status", "", "default"), "Metadata"),
        ((ADMIN, "create", "pods", "", "default"), "Metadata"),
        ((ADMIN, "patch", "pods", "", "default"), "Metadata"),
        (("system:serviceaccount:kube-system:generic-garbage-collector", "delete", "pods", "", "default"), "Metadata"),
        (("system:serviceaccount:kube-system:namespace-controller", "deletecollection", "pods", "", "a"), "Metadata"),
        (("system:serviceaccount:kube-system:namespace-controller", "deletecollection", "secrets", "", "a"), "None"),
        ((ADMIN, "create", "configmaps", "", "default"), "Metadata"),
        ((ADMIN, "create", "leases", "coordination.k8s.io", "default"), "Request"),
        ((ADMIN, "patch", "clusterroles", "rbac.authorization.k8s.io", ""), "Request"),
        ((SECOND, "list", "storageclasses", "storage.k8s.io", ""), "Metadata"),
        (("by-certificate", "list", "nodes", "", ""), "Metadata"),
        ((ADMIN, "watch", "pods", "", "default"), "None"),
        ((SCHEDULER, "watch", "pods", "", ""), "None"),
        (("system:node:w", "get", "pods", "", ""), "None"),
    ],
)
def test_request_is_logged_at_the_level_that_the_claims_need(
    request_of: tuple[str, str, str, str, str], expected: str
) -> None:
    assert level(*request_of) == expected


def patches(nodes: int) -> dict[str, Any]:
    kind = yaml.safe_load(manifests("kind", config.FILES[nodes]).read_text())
    return {each["apiVersion"]: each for each in map(yaml.safe_load, kind["kubeadmConfigPatches"])}


@pytest.mark.parametrize("nodes", [1, 3])
def test_both_forms_of_the_audit_flags_say_the_same(nodes: int) -> None:
    found = patches(nodes)
    new, old = (found[f"kubeadm.k8s.io/{version}"]["apiServer"] for version in ("v1beta4", "v1beta3"))

    assert {each["name"]: each["value"] for each in new["extraArgs"]} == old["extraArgs"]
    assert new["extraVolumes"] == old["extraVolumes"]
    assert old["extraArgs"]["audit-log-path"] == config.AUDIT_LOG
    assert all(isinstance(value, str) for value in old["extraArgs"].values())  # kubeadm refuses numbers


@pytest.mark.parametrize("nodes", [1, 3])
def test_kubelet_is_allowed_to_run_on_cgroup_v1(nodes: int) -> None:
    assert patches(nodes)["kubelet.config.k8s.io/v1beta1"]["failCgroupV1"] is False


@pytest.mark.parametrize("nodes", [1, 3])
def test_configuration_mounts_the_policy_from_the_clusters_own_folder(tmp_path: Path, nodes: int) -> None:
    written = yaml.safe_load(config.write(tmp_path, nodes).read_text())

    assert len(written["nodes"]) == nodes
    (mount,) = written["nodes"][0]["extraMounts"]
    assert (Path(mount["hostPath"]) / "policy.yaml").read_text() == manifests("audit", "policy.yaml").read_text()
    assert config.PLACE not in yaml.safe_dump(written)


def test_hash_of_the_configuration_tells_one_node_from_three() -> None:
    assert config.digest(1) != config.digest(3)
