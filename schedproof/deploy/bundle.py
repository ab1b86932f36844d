"""What a bundle of manifests says about its scheduler: workload, container, identity, profiles, lease.

Everything here reads plain objects and never asks a cluster, so it works before anything is deployed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from schedproof.api import Object

DEFAULT = "default-scheduler"
"""The name of the default scheduler, and of every profile that has none."""

WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
SECURE_PORT = 10259


@dataclass(frozen=True)
class Config:
    """A KubeSchedulerConfiguration inside a ConfigMap.

    Attributes:
        config_map: The object that holds it.
        key: Its key (file name) there.
        content: What it says; None when it is no YAML mapping.
    """

    config_map: Object
    key: str
    content: dict[str, Any] | None

    @property
    def profiles(self) -> tuple[str, ...]:
        """Names that are served: one without a name, or no profile at all, becomes ``default-scheduler``."""
        profiles = (self.content or {}).get("profiles") or [{}]
        return tuple((profile or {}).get("schedulerName") or DEFAULT for profile in profiles)

    @property
    def election(self) -> dict[str, Any]:
        """The leader election's settings, with kube-scheduler's defaults filled in."""
        given = (self.content or {}).get("leaderElection") or {}
        return {
            "leaderElect": True, "resourceNamespace": "kube-system", "resourceName": "kube-scheduler",
            **{key: value for key, value in given.items() if value not in (None, "")},
        }  # fmt: skip


@dataclass(frozen=True)
class Lease:
    """A leader election's lease; ``own`` is False for the default scheduler's."""

    namespace: str
    name: str

    @property
    def own(self) -> bool:
        """Whether it is another lease than the default scheduler's."""
        return (self.namespace, self.name) != ("kube-system", "kube-scheduler")


def workload(objects: Sequence[Object]) -> Object | None:
    """Return the Deployment (or other workload, or Pod) whose containers run the scheduler."""
    candidates = [obj for obj in objects if obj["kind"] in WORKLOADS or obj["kind"] == "Pod"]
    runs_one = [obj for obj in candidates if any(_is_scheduler(box) for box in containers(obj))]
    return next(iter(runs_one or candidates), None)


def pod_spec(obj: Object) -> dict[str, Any]:
    """Return the pod spec of a Pod or of a workload's template (the dict itself, not a copy)."""
    spec: dict[str, Any] = obj.get("spec") or {}
    if obj["kind"] == "Pod":
        return spec
    inner: dict[str, Any] = (spec.get("template") or {}).get("spec") or {}
    return inner


def containers(obj: Object) -> list[dict[str, Any]]:
    """Return the containers of a Pod or workload."""
    return list(pod_spec(obj).get("containers") or [])


def scheduler_container(obj: Object) -> dict[str, Any] | None:
    """Return the container that runs the scheduler: the one that looks like it, else the first."""
    boxes = containers(obj)
    return next((box for box in boxes if _is_scheduler(box)), boxes[0] if boxes else None)


def command(container: dict[str, Any]) -> list[str]:
    """Return the words of a container's command and args."""
    return [str(word) for word in (container.get("command") or []) + (container.get("args") or [])]


def flag(container: dict[str, Any], name: str) -> str | None:
    """Return the value of ``--name=value`` or ``--name value``; "" for a bare flag, None when it is not given."""
    words = command(container)
    for position, word in enumerate(words):
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
        if word == f"--{name}":
            following = words[position + 1 : position + 2]
            return following[0] if following and not following[0].startswith("-") else ""
    return None


def port(container: dict[str, Any]) -> int:
    """Return the port on which the scheduler serves HTTPS."""
    given = flag(container, "secure-port") or ""
    return int(given) if given.isdigit() else SECURE_PORT


def service_account(obj: Object) -> str:
    """Return the name of the ServiceAccount that a Pod or workload runs as."""
    spec = pod_spec(obj)
    return str(spec.get("serviceAccountName") or spec.get("serviceAccount") or "default")


def namespace(obj: Object) -> str:
    """Return an object's namespace, ``default`` when it says none (meaningless for cluster-wide kinds)."""
    return str(obj["metadata"].get("namespace") or "default")


def configs(objects: Sequence[Object]) -> list[Config]:
    """Return the KubeSchedulerConfigurations that the scheduler is started with.

    When the bundle's ConfigMaps hold several, ``--config`` decides; when it names none of them, all are returned.
    """
    found = list(_embedded(objects))
    running = workload(objects)
    box = scheduler_container(running) if running else None
    wanted = PurePosixPath((flag(box, "config") if box else None) or "").name
    return [config for config in found if config.key == wanted] or found


def served(objects: Sequence[Object]) -> tuple[str, ...]:
    """Return the names that the bundle's scheduler answers to; without any config that is ``default-scheduler``."""
    names = [name for config in configs(objects) for name in config.profiles]
    return tuple(dict.fromkeys(names)) or (DEFAULT,)


def lease(objects: Sequence[Object]) -> Lease | None:
    """Return the lease that the bundle's scheduler elects its leader with; None without an election."""
    for config in configs(objects):
        if config.election["leaderElect"]:
            return Lease(str(config.election["resourceNamespace"]), str(config.election["resourceName"]))
    return None


def user(objects: Sequence[Object]) -> str:
    """Return the user that the bundle's bindings name (a client certificate's); "" when they name none."""
    bound = (obj for obj in objects if obj["kind"] in ("ClusterRoleBinding", "RoleBinding"))
    subjects = (subject for obj in bound for subject in obj.get("subjects") or [])
    return next((str(subject["name"]) for subject in subjects if subject.get("kind") == "User"), "")


def kubeconfig(objects: Sequence[Object]) -> str:
    """Return the path of the kubeconfig that the scheduler is told to use; "" when it goes by its ServiceAccount."""
    connections = ((config.content or {}).get("clientConnection") or {} for config in configs(objects))
    return next((str(one["kubeconfig"]) for one in connections if one.get("kubeconfig")), "")


def with_config(objects: Sequence[Object], content: dict[str, Any]) -> list[Object]:
    """Return a copy of the bundle whose scheduler is started with another configuration."""
    copies = copy.deepcopy(list(objects))
    for config in configs(copies):
        config.config_map["data"][config.key] = yaml.safe_dump(content, sort_keys=False)
    return copies


def _embedded(objects: Sequence[Object]) -> Iterator[Config]:
    for obj in objects:
        if obj["kind"] != "ConfigMap":
            continue
        for key, text in (obj.get("data") or {}).items():
            if "KubeSchedulerConfiguration" not in str(text):
                continue
            try:
                content = yaml.safe_load(text)
            except yaml.YAMLError:
                content = None
            yield Config(obj, key, content if isinstance(content, dict) else None)


def _is_scheduler(container: dict[str, Any]) -> bool:
    words = command(container)
    return (
        flag(container, "config") is not None
        or any("scheduler" in PurePosixPath(word).name for word in words[:1])
        or "scheduler" in str(container.get("name", ""))
    )
