"""Give a bundle of manifests names of its own, so that copies of it live side by side in one cluster.

All substitution happens on the objects: names, references, labels, selectors, the profile inside the configuration.
What is not the bundle's own (``system:kube-scheduler``, a Role of kube-system, ``default-scheduler``) keeps its name.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import yaml

from schedproof.deploy import bundle
from schedproof.errors import UsageError

if TYPE_CHECKING:
    from schedproof.api import Object

CLUSTER_WIDE = ("ClusterRole", "ClusterRoleBinding", "PriorityClass", "Namespace", "StorageClass")
"""Kinds of a bundle that have no namespace."""

OWN_LABEL = "app.kubernetes.io/instance"
"""Added where a selector holds nothing that carries the bundle's name: two copies with one selector would fight."""


def renamed(
    objects: Sequence[Object],
    *,
    name: str,
    namespace: str | None = None,
    image: str | None = None,
    command: str | None = None,
    pull_policy: str | None = None,
    replicas: int | None = None,
    base: str | None = None,
) -> list[Object]:
    """Return a copy of a bundle under another name.

    The bundle's present name is that of its workload (``my-scheduler``). ``my-scheduler`` becomes ``NAME``,
    ``my-scheduler-config`` becomes ``NAME-config``, and any other object of the bundle ``NAME-<old name>``.

    Args:
        objects: A scheduler's bundle, with exactly one workload that runs it.
        name: The new name, also of the profile that had the bundle's present name.
        namespace: Where its objects go; None leaves them. A RoleBinding to a Role that the bundle does not bring
            stays where that Role is; only its subject moves.
        image: Image of the scheduler's container; None leaves it.
        command: Path of the program in that image, the first word of the container's command; None leaves it.
        pull_policy: imagePullPolicy of that container; None leaves it.
        replicas: Replicas of the workload; None leaves them.
        base: The bundle's present name, when it has no workload (a ServiceAccount with its roles, say).

    Raises:
        UsageError: The bundle has no workload, and ``base`` was not given.
    """
    copies = copy.deepcopy(list(objects))
    workload = bundle.workload(copies)
    if workload is None and base is None:
        raise UsageError(
            "the manifests hold a Deployment (or another workload) that runs the scheduler",
            seen=", ".join(sorted({obj["kind"] for obj in copies})) or "nothing",
            cure="add it, see manifests/kubernetes/second-scheduler",
        )
    change = _Change(copies, workload, base, name, namespace)
    for config in bundle.configs(copies):
        change.config(config)
    for obj in copies:
        change.references(obj)
    if workload is not None:
        change.labels(workload)
        _container(workload, change.new_name, image, command, pull_policy)
        if replicas is not None and workload["kind"] != "Pod":
            workload["spec"]["replicas"] = replicas
    for obj in copies:
        change.metadata(obj)
    return copies


def _container(
    workload: Object, new_name: Callable[[str], str], image: str | None, program: str | None, policy: str | None
) -> None:
    box = bundle.scheduler_container(workload)
    if box is None:
        return
    for field in ("command", "args"):
        if box.get(field):
            box[field] = _flags_renamed([str(word) for word in box[field]], new_name)
    if image is not None:
        box["image"] = image
    if policy is not None:
        box["imagePullPolicy"] = policy
    if program is not None:
        box["command"] = [program, *(box.get("command") or [])[1:]]


def _flags_renamed(words: list[str], new_name: Callable[[str], str]) -> list[str]:
    """Rename in ``--leader-elect-resource-name=my-scheduler``, also as two words.

    A path keeps its name (so does its key in the ConfigMap), and so does the program.
    """
    changed: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        flag, equals, value = word.partition("=")
        if word.startswith("--") and equals and "/" not in value:
            changed.append(flag + equals + new_name(value))
        elif before.startswith("--") and "=" not in before and "/" not in word:
            changed.append(new_name(word))
        else:
            changed.append(word)
    return changed


class _Change:
    """One renaming: what is called how before and after."""

    def __init__(
        self, objects: list[Object], workload: Object | None, base: str | None, name: str, namespace: str | None
    ) -> None:
        self.old = base or str((workload or objects[0])["metadata"]["name"])
        self.name = name
        self.old_namespace = bundle.namespace(workload or next(obj for obj in objects if _has_namespace(obj)))
        self.namespace = namespace or self.old_namespace
        self.brought = {(obj["kind"], str(obj["metadata"]["name"])) for obj in objects}
        self.old_lease = bundle.lease(objects)

    def new_name(self, old: str) -> str:
        """Rename what carries the bundle's name; leave the rest."""
        if old == self.old or old.startswith(f"{self.old}-"):
            return self.name + old.removeprefix(self.old)
        return old

    def object_name(self, old: str) -> str:
        """Rename an object of the bundle, whatever it is called."""
        new = self.new_name(old)
        return new if new != old or self.name == self.old else f"{self.name}-{old}"

    def referred(self, kind: str, old: str) -> str:
        """Rename a reference if the bundle brings what it refers to."""
        return self.object_name(old) if (kind, old) in self.brought else self.new_name(old)

    def metadata(self, obj: Object) -> None:
        """Rename the object itself and move it."""
        metadata = obj["metadata"]
        outside = obj["kind"] == "RoleBinding" and not self._brings(obj["roleRef"])
        metadata["name"] = self.object_name(str(metadata["name"]))
        if metadata.get("labels"):
            metadata["labels"] = self._values(metadata["labels"])
        if _has_namespace(obj) and not outside and bundle.namespace(obj) == self.old_namespace:
            metadata["namespace"] = self.namespace

    def _brings(self, role: dict[str, Any]) -> bool:
        """Whether a (renamed) roleRef is to a Role that moves along; a ClusterRole is everywhere."""
        ours = {self.object_name(name) for kind, name in self.brought if kind == "Role"}
        return role.get("kind") != "Role" or role.get("name") in ours

    def references(self, obj: Object) -> None:
        """Rename what the object refers to."""
        if "roleRef" in obj:
            role = obj["roleRef"]
            if (role.get("kind"), role.get("name")) in self.brought:
                role["name"] = self.object_name(role["name"])
            for subject in obj.get("subjects") or []:
                if subject.get("kind") == "ServiceAccount" and subject.get("namespace") == self.old_namespace:
                    subject["name"] = self.referred("ServiceAccount", subject["name"])
                    subject["namespace"] = self.namespace
                elif subject.get("kind") == "User":
                    subject["name"] = self.new_name(subject["name"])
        for rule in obj.get("rules") or [] if obj["kind"] in ("Role", "ClusterRole") else []:
            if rule.get("resourceNames"):
                rule["resourceNames"] = [self._lease_name(str(item)) for item in rule["resourceNames"]]
        if obj["kind"] in bundle.WORKLOADS or obj["kind"] == "Pod":
            self._pod_spec(bundle.pod_spec(obj))
        if obj["kind"] == "Service" and (obj.get("spec") or {}).get("selector"):
            obj["spec"]["selector"] = self._values(obj["spec"]["selector"])
        if obj["kind"] == "PodDisruptionBudget":
            _each_selector(obj.get("spec"), self._values)

    def _pod_spec(self, spec: dict[str, Any]) -> None:
        for field in ("serviceAccountName", "serviceAccount"):
            if spec.get(field):
                spec[field] = self.referred("ServiceAccount", spec[field])
        for volume in spec.get("volumes") or []:
            sources = [volume, *((volume.get("projected") or {}).get("sources") or [])]
            for source in sources:
                if (source.get("configMap") or {}).get("name"):
                    source["configMap"]["name"] = self.referred("ConfigMap", source["configMap"]["name"])
                secret = source.get("secret") or {}
                for field in ("secretName", "name"):
                    if secret.get(field):
                        secret[field] = self.referred("Secret", secret[field])
        if spec.get("priorityClassName"):
            spec["priorityClassName"] = self.referred("PriorityClass", spec["priorityClassName"])
        for field in ("affinity", "topologySpreadConstraints"):
            _each_selector(spec.get(field), self._values)

    def labels(self, workload: Object) -> None:
        """Rename in the workload's selector and template; make them its own if nothing in them carried the name."""
        if workload["kind"] == "Pod":
            return
        spec = workload["spec"]
        selector = spec.setdefault("selector", {})
        metadata = spec["template"].setdefault("metadata", {})
        before = dict(selector.get("matchLabels") or {})
        after = self._values(before)
        if after == before and self.name != self.old:
            after[OWN_LABEL] = self.name
        selector["matchLabels"] = after
        metadata["labels"] = {
            **self._values(metadata.get("labels") or {}),
            **{k: after[k] for k in after if k not in before},
        }

    def config(self, config: bundle.Config) -> None:
        """Rename profiles and lease inside a KubeSchedulerConfiguration."""
        if config.content is None:
            return
        for profile in config.content.get("profiles") or []:
            if (profile or {}).get("schedulerName"):
                profile["schedulerName"] = self._profile(profile["schedulerName"])
        election = config.content.get("leaderElection") or {}
        if election.get("resourceName"):
            election["resourceName"] = self._lease_name(election["resourceName"])
        if election.get("resourceNamespace") == self.old_namespace:
            election["resourceNamespace"] = self.namespace
        config.config_map["data"][config.key] = yaml.safe_dump(config.content, sort_keys=False)

    def _profile(self, old: str) -> str:
        new = self.new_name(old)
        return new if new != old or old == bundle.DEFAULT or self.name == self.old else f"{self.name}-{old}"

    def _lease_name(self, old: str) -> str:
        """Rename the bundle's own lease; never the default scheduler's, which the bundle may name on purpose."""
        lease = self.old_lease
        if lease is not None and lease.own and old == lease.name:
            return self.object_name(old)
        return self.new_name(old)

    def _values(self, labels: dict[str, Any]) -> dict[str, Any]:
        return {key: self.new_name(str(value)) for key, value in labels.items()}


def _has_namespace(obj: Object) -> bool:
    return obj["kind"] not in CLUSTER_WIDE


def _each_selector(node: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Apply a change to every matchLabels below a node."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "matchLabels" and isinstance(value, dict):
                node[key] = change(value)
            else:
                _each_selector(value, change)
    elif isinstance(node, list):
        for item in node:
            _each_selector(item, change)
