"""Each fault from the field is found in a bundle that has it, and in no bundle that has not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from schedproof import data
from schedproof.deploy import bundle, checks
from schedproof.deploy.manifests import load
from schedproof.errors import UsageError

Objects = list[dict[str, Any]]
OURS = load(data.manifests("kubernetes", "second-scheduler"))


def one(objects: Objects, kind: str, position: int = 0) -> dict[str, Any]:
    return [obj for obj in objects if obj["kind"] == kind][position]


def box(objects: Objects) -> dict[str, Any]:
    found = bundle.scheduler_container(one(objects, "Deployment"))
    assert found is not None
    return found


def config(objects: Objects, **changed: Any) -> None:
    (old,) = bundle.configs(objects)
    objects[:] = bundle.with_config(objects, {**(old.content or {}), **changed})


def without_account(objects: Objects) -> None:
    del bundle.pod_spec(one(objects, "Deployment"))["serviceAccountName"]


def as_cluster_role(objects: Objects) -> None:
    binding = one(objects, "RoleBinding")
    binding["kind"] = "ClusterRoleBinding"
    binding["roleRef"]["kind"] = "ClusterRole"


def own_system_role(objects: Objects) -> None:
    objects.append({"kind": "ClusterRole", "metadata": {"name": "system:kube-scheduler"}, "rules": []})


FAULTS: dict[str, tuple[Callable[[Objects], Any], str, str]] = {
    "no profile": (lambda o: config(o, profiles=[]), "rival", "becomes default-scheduler"),
    "a profile without a name": (lambda o: config(o, profiles=[{"plugins": {}}]), "rival", "becomes default-scheduler"),
    "a profile named default-scheduler": (
        lambda o: config(o, profiles=[{"schedulerName": "default-scheduler"}]), "rival", "is named default-scheduler",
    ),
    "the system's role overwritten": (own_system_role, "system-role", "take rights away"),
    "a ConfigMap that nobody brings": (
        lambda o: o.remove(one(o, "ConfigMap")), "missing-reference", "the ConfigMap my-scheduler-config",
    ),
    "a ServiceAccount that nobody brings": (
        lambda o: o.remove(one(o, "ServiceAccount")), "missing-reference", "no Pod of it is created",
    ),
    "no ServiceAccount": (without_account, "default-account", "refused everything"),
    "cluster-admin": (
        lambda o: one(o, "ClusterRoleBinding")["roleRef"].update(name="cluster-admin"), "cluster-admin", "proved",
    ),
    "a Role bound as ClusterRole": (as_cluster_role, "dangling-role", "grants nothing"),
    "no volume-scheduler binding": (
        lambda o: o.remove(one(o, "ClusterRoleBinding", 1)), "missing-binding", "storageclasses",
    ),
    "no kube-scheduler binding": (lambda o: o.remove(one(o, "ClusterRoleBinding")), "missing-binding", "nodes"),
    "election on the default's lease": (
        lambda o: config(o, leaderElection={"leaderElect": True}), "default-lease", "kube-system/kube-scheduler",
    ),
    "election left to its default": (lambda o: config(o, leaderElection=None), "default-lease", "stands by"),
    "an old apiVersion": (
        lambda o: config(o, apiVersion="kubescheduler.config.k8s.io/v1beta3"), "config-version", "v1beta3",
    ),
    "two profiles of one name": (
        lambda o: config(o, profiles=[{"schedulerName": "a"}, {"schedulerName": "a"}]), "config", "one name",
    ),
    "a config that is no YAML": (
        lambda o: one(o, "ConfigMap")["data"].update({"my-scheduler-config.yaml": "KubeSchedulerConfiguration: [\n"}),
        "config", "exits",
    ),
    "pull policy Always": (lambda o: box(o).update(imagePullPolicy="Always"), "pull", "Always"),
    "no tag at all": (
        lambda o: (box(o).update(image="localhost:5000/x"), box(o).pop("imagePullPolicy")), "pull", "latest",
    ),
    "an HTTP probe on 10251": (
        lambda o: box(o).update(livenessProbe={"httpGet": {"path": "/healthz", "port": 10251}}), "probe", "10251",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fault", "id_", "words"), FAULTS.values(), ids=list(FAULTS))
def test_the_fault_is_found(fault: Callable[[Objects], Any], id_: str, words: str) -> None:
    objects = copy.deepcopy(OURS)
    fault(objects)
    found = [finding for finding in checks.findings(objects) if finding.id == id_]
    assert found, f"{id_} not among {checks.findings(objects)}"
    assert words in str(found[0])
    assert found[0].cure


def test_our_own_bundle_has_no_finding() -> None:
    assert checks.findings(OURS) == []


def test_a_latest_image_that_is_never_pulled_is_no_finding() -> None:
    objects = copy.deepcopy(OURS)
    box(objects)["image"] = "mine:latest"
    assert checks.findings(objects) == []


def test_a_role_of_ones_own_replaces_the_systems() -> None:
    objects = copy.deepcopy(OURS)
    one(objects, "ClusterRoleBinding", 1)["roleRef"]["name"] = "mine"
    objects.append(
        {"kind": "ClusterRole", "metadata": {"name": "mine"},
         "rules": [{"apiGroups": ["storage.k8s.io"], "resources": ["*"], "verbs": ["list"]}]}
    )  # fmt: skip
    assert checks.findings(objects) == []


@pytest.mark.parametrize("fault", ["no profile", "the system's role overwritten"])
def test_a_rival_is_refused(fault: str) -> None:
    objects = copy.deepcopy(OURS)
    FAULTS[fault][0](objects)
    with pytest.raises(UsageError, match="what to do"):
        checks.refuse_rivals(objects)


def test_a_second_scheduler_is_not_refused() -> None:
    checks.refuse_rivals(OURS)


class Cluster:
    """A cluster that has some roles and some Deployments."""

    def __init__(self, roles: set[str], deployments: Objects) -> None:
        self.roles, self.deployments = roles, deployments

    def get(self, kind: str, name: str, namespace: str = "") -> dict[str, Any] | None:
        del kind, namespace
        return {"metadata": {"name": name}} if name in self.roles else None

    def list(self, kind: str, namespace: str = "") -> tuple[Objects, str]:
        assert (kind, namespace) == ("apps/v1/Deployment", "kube-system")
        return self.deployments, "1"


def test_a_role_that_the_cluster_has_not_is_found_and_a_selector_that_it_has() -> None:
    other = copy.deepcopy(one(OURS, "Deployment"))
    other["metadata"]["name"] = "other"
    cluster: Any = Cluster({"system:kube-scheduler"}, [other, one(OURS, "Deployment")])
    found = checks.findings(OURS, cluster)
    assert [finding.id for finding in found] == ["dangling-role", "selector"]
    assert "system:volume-scheduler, which does not exist" in str(found[0])
