"""Copies of a bundle under names of their own: consistent inside, disjoint from each other."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
import yaml

from schedproof import data
from schedproof.deploy import bundle
from schedproof.deploy.manifests import load, loads, renamed
from schedproof.errors import UsageError

Objects = list[dict[str, Any]]

OURS = load(data.manifests("kubernetes", "second-scheduler"))
FOREIGN = loads(
    """
apiVersion: v1
kind: ServiceAccount
metadata: {name: sched-sa, namespace: tools}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: lease-editor}
rules:
  - {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [election], verbs: [get, update]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: sched-lease}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: lease-editor}
subjects: [{kind: ServiceAccount, name: sched-sa, namespace: tools}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: tools}
data:
  config.yaml: |
    apiVersion: kubescheduler.config.k8s.io/v1
    kind: KubeSchedulerConfiguration
    profiles: [{schedulerName: gpu}, {schedulerName: topology-batch}, {schedulerName: default-scheduler}]
    leaderElection: {leaderElect: true, resourceNamespace: tools, resourceName: election}
---
apiVersion: v1
kind: Service
metadata: {name: topology, namespace: tools}
spec: {selector: {app: topology}, ports: [{port: 1}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: topology, namespace: tools}
spec:
  replicas: 2
  selector: {matchLabels: {tier: scheduling}}
  template:
    metadata: {labels: {tier: scheduling, app: topology}}
    spec:
      serviceAccountName: sched-sa
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - {labelSelector: {matchLabels: {app: topology}}, topologyKey: kubernetes.io/hostname}
      containers:
        - {name: proxy, image: proxy}
        - name: topology
          image: theirs:2
          command: [/bin/topology]
          args: [--config, /etc/topology/config.yaml, --leader-elect-resource-name=topology, --name, topology-x]
      volumes:
        - {name: c, configMap: {name: conf}}
        - {name: p, projected: {sources: [{configMap: {name: conf}}]}}
""",
    "foreign",
)
BUNDLES = {"ours": OURS, "foreign": FOREIGN}


@pytest.fixture(params=list(BUNDLES.values()), ids=list(BUNDLES))
def objects(request: pytest.FixtureRequest) -> Objects:
    found: Objects = copy.deepcopy(request.param)
    return found


def keys(objects: Objects) -> set[tuple[str, str, str]]:
    return {(obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]) for obj in objects}


def deployment(objects: Objects) -> dict[str, Any]:
    return next(obj for obj in objects if obj["kind"] == "Deployment")


def matches(selector: dict[str, str], labels: dict[str, str]) -> bool:
    return selector.items() <= labels.items()


NAMES = ("a", "a-b", "b", "my-scheduler-2", "topology-2", "x" * 50)


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(NAMES, 2)))
def test_two_copies_share_no_object_and_adopt_none_of_each_others_pods(objects: Objects, one: str, other: str) -> None:
    first, second = (renamed(objects, name=name) for name in (one, other))
    assert not keys(first) & keys(second)
    a, b = deployment(first), deployment(second)
    for mine, theirs in ((a, b), (b, a)):
        selector = mine["spec"]["selector"]["matchLabels"]
        assert matches(selector, mine["spec"]["template"]["metadata"]["labels"])
        assert not matches(selector, theirs["spec"]["template"]["metadata"]["labels"])


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_inside_a_copy_leads_to_an_object_of_the_copy(objects: Objects, name: str) -> None:
    copied = renamed(objects, name=name, namespace="elsewhere")
    spec = bundle.pod_spec(deployment(copied))
    account = ("ServiceAccount", "elsewhere", spec["serviceAccountName"])
    assert account in keys(copied)
    for obj in copied:
        for subject in obj.get("subjects", []):
            assert (subject["kind"], subject["namespace"], subject["name"]) == account
    assert bundle.configs(copied)[0].config_map["metadata"]["name"] in str(spec["volumes"])
    for volume in spec["volumes"]:
        for source in [volume, *volume.get("projected", {}).get("sources", [])]:
            if "configMap" in source:
                assert ("ConfigMap", "elsewhere", source["configMap"]["name"]) in keys(copied)


def test_renaming_twice_is_renaming_once(objects: Objects) -> None:
    assert renamed(renamed(objects, name="between"), name="last")[-1]["metadata"]["name"] == "last"
    assert keys(renamed(renamed(OURS, name="between"), name="last")) == keys(renamed(OURS, name="last"))


def test_renaming_to_the_same_name_changes_nothing() -> None:
    same = renamed(OURS, name="my-scheduler")
    assert keys(same) == keys(OURS)
    assert deployment(same) == deployment(OURS)


def test_the_given_objects_are_left_alone(objects: Objects) -> None:
    before = copy.deepcopy(objects)
    renamed(objects, name="other", namespace="elsewhere", image="i", command="c", replicas=3)
    assert objects == before


def test_the_profile_that_has_the_bundles_name_follows_it() -> None:
    assert bundle.served(renamed(OURS, name="red")) == ("red",)


def test_all_profiles_of_a_copy_are_its_own_but_the_default_schedulers() -> None:
    assert bundle.served(renamed(FOREIGN, name="red")) == ("red-gpu", "red-batch", "default-scheduler")


def test_lease_its_role_and_its_flag_are_renamed_together() -> None:
    copied = renamed(FOREIGN, name="red", namespace="elsewhere")
    assert bundle.lease(copied) == bundle.Lease("elsewhere", "red-election")
    role = next(obj for obj in copied if obj["kind"] == "ClusterRole")
    assert role["rules"][0]["resourceNames"] == ["red-election"]
    box = bundle.scheduler_container(deployment(copied))
    assert box is not None
    assert box["args"] == [
        "--config", "/etc/topology/config.yaml", "--leader-elect-resource-name=red", "--name", "red-x",
    ]  # fmt: skip


def test_the_default_schedulers_lease_is_never_renamed() -> None:
    broken = bundle.with_config(OURS, {"kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": True}})
    assert bundle.lease(renamed(broken, name="red")) == bundle.Lease("kube-system", "kube-scheduler")


def test_a_role_binding_stays_with_the_systems_role_and_its_subject_moves() -> None:
    (binding,) = (obj for obj in renamed(OURS, name="red", namespace="elsewhere") if obj["kind"] == "RoleBinding")
    assert binding["metadata"]["namespace"] == "kube-system"
    assert binding["roleRef"]["name"] == "extension-apiserver-authentication-reader"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "red", "namespace": "elsewhere"}]


def test_a_selector_without_the_bundles_name_gets_a_label_of_its_own() -> None:
    spec = deployment(renamed(FOREIGN, name="red"))["spec"]
    assert spec["selector"]["matchLabels"] == {"tier": "scheduling", "app.kubernetes.io/instance": "red"}
    assert spec["template"]["metadata"]["labels"]["app"] == "red"


def test_services_and_affinities_follow_the_labels() -> None:
    copied = renamed(FOREIGN, name="red")
    service = next(obj for obj in copied if obj["kind"] == "Service")
    assert service["spec"]["selector"] == {"app": "red"}
    assert "matchLabels': {'app': 'red'}" in str(bundle.pod_spec(deployment(copied))["affinity"])


def test_image_command_policy_and_replicas_are_the_scheduler_containers() -> None:
    copied = renamed(FOREIGN, name="red", image="ours:1", command="/ours", pull_policy="Never", replicas=3)
    proxy, box = bundle.containers(deployment(copied))
    assert proxy == {"name": "proxy", "image": "proxy"}
    assert (box["image"], box["command"], box["imagePullPolicy"]) == ("ours:1", ["/ours"], "Never")
    assert deployment(copied)["spec"]["replicas"] == 3


def test_a_bundle_without_workload_is_renamed_by_the_name_that_is_given() -> None:
    reader = load(data.manifests("kubernetes", "metrics-reader.yaml"))
    copied = renamed(reader, name="red", namespace="elsewhere", base="my-scheduler")
    assert {obj["metadata"]["name"] for obj in copied} == {"red-metrics-reader"}
    assert copied[2]["subjects"][0] == {
        "kind": "ServiceAccount",
        "name": "red-metrics-reader",
        "namespace": "elsewhere",
    }


def test_a_bundle_without_workload_is_refused() -> None:
    with pytest.raises(UsageError, match=r"seen: +ConfigMap"):
        renamed([obj for obj in OURS if obj["kind"] == "ConfigMap"], name="red")


def test_the_configuration_stays_readable_yaml() -> None:
    (config,) = bundle.configs(renamed(OURS, name="yes"))
    assert yaml.safe_load(config.config_map["data"][config.key])["profiles"] == [{"schedulerName": "yes"}]
