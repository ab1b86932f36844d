"""What is kept about a failed claim: one small function for each kind of evidence, all in :data:`COLLECTORS`.

A collector returns file names and texts; secrets are taken out and sizes bounded by whoever writes them. It may raise
any error of ours: that is written down in place of its files, and never hides the claim's failure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import yaml

from schedproof.binder import events as told
from schedproof.binder.entries import Binding, LeaseUpdate, NotAnEntry, StatusPatch, parse
from schedproof.deploy import bundle
from schedproof.evidence.redaction import redacted_object
from schedproof.kubectl import kubectl

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts
    from schedproof.shapes.scheduler import Scheduler

KUBECTL_SECONDS = 10.0
LOG_LINES = 1500
SYSTEM = "kube-system"
DESCRIBED = (
    "apps/v1/Deployment", "apps/v1/ReplicaSet", "apps/v1/DaemonSet", "ConfigMap", "ServiceAccount", "Secret",
    "PersistentVolumeClaim",
)  # fmt: skip
"""Kinds of objects of a claim's namespace that are kept as YAML, beside its pods."""


class Audit(Protocol):
    """What is asked of the audit log."""

    def entries(self) -> Iterable[Mapping[str, Any]]:
        """Return its events as they stand in it, oldest first."""


@dataclass(frozen=True)
class Scene:
    """Where the claim failed.

    Attributes:
        api: The cluster.
        facts: What is known of it.
        namespaces: The claim's own namespaces.
        schedulers: The schedulers that it deployed.
        audit: The audit log as claims read it; None for a cluster without one.
    """

    api: Api
    facts: Facts
    namespaces: Sequence[str]
    schedulers: Sequence[Scheduler]
    audit: Audit | None = None


Files = dict[str, str]
"""File name -> text."""


def pods(scene: Scene) -> Files:
    """Keep every Pod of the claim's namespaces, and the schedulers' own, as YAML."""
    found = [pod for namespace in scene.namespaces for pod in scene.api.list("Pod", namespace)[0]]
    found += [pod for scheduler in scene.schedulers for pod in scheduler.pods()]
    return {"pods.yaml": _yaml(_once(found))}


def events(scene: Scene) -> Files:
    """Keep the events of the claim's namespaces, and those about its schedulers elsewhere, in order of time."""
    found = [event for namespace in scene.namespaces for event in scene.api.list("Event", namespace)[0]]
    for scheduler in scene.schedulers:
        if scheduler.namespace not in scene.namespaces:
            workload = bundle.workload(scheduler.objects)
            about = str(workload["metadata"]["name"]) if workload else scheduler.name
            found += [
                event
                for event in scene.api.list("Event", scheduler.namespace)[0]
                if _about(event) == about or _about(event).startswith(f"{about}-")
            ]
    lines = [_event_line(event) for event in sorted(found, key=told.when)]
    return {"events.txt": "\n".join(lines) + "\n"}


def events_wide(scene: Scene) -> Files:
    """Keep what `kubectl get events -o wide` prints, which the second document tells its readers to look at."""
    return {
        f"kubectl-get-events-{namespace}.txt": kubectl(
            scene.facts.kubectl,
            scene.facts.kubeconfig,
            *("get", "events", "--output=wide", f"--namespace={namespace}"),
            f"--request-timeout={KUBECTL_SECONDS:.0f}s",
            seconds=KUBECTL_SECONDS + 5,
        ).stdout
        for namespace in scene.namespaces
    }


def objects(scene: Scene) -> Files:
    """Keep the objects of the claim's namespaces as YAML."""
    return {
        f"objects-{namespace}.yaml": _yaml([obj for kind in DESCRIBED for obj in scene.api.list(kind, namespace)[0]])
        for namespace in scene.namespaces
    }


def second_schedulers(scene: Scene) -> Files:
    """Keep state, logs (also of the container before a restart), configuration and manifests of each scheduler."""
    files: Files = {}
    for scheduler in scene.schedulers:
        files |= {
            f"scheduler-{scheduler.name}.state.txt": scheduler.state() + "\n",
            f"scheduler-{scheduler.name}.log": scheduler.logs(lines=LOG_LINES),
            f"scheduler-{scheduler.name}.previous.log": scheduler.logs(lines=LOG_LINES, previous=True),
            f"scheduler-{scheduler.name}.config.yaml": "---\n".join(
                config.config_map["data"][config.key] for config in bundle.configs(scheduler.objects)
            ),
            f"scheduler-{scheduler.name}.manifests.yaml": _yaml(scheduler.objects),
        }
        files |= {f"scheduler-{scheduler.name}.{file}": text for file, text in scheduler.evidence().items()}
    return files


def default_scheduler(scene: Scene) -> Files:
    """Keep log and manifest (flags, configuration) of the control plane's own scheduler."""
    files: Files = {}
    for pod in scene.api.list("Pod", SYSTEM, labels="component=kube-scheduler")[0]:
        name = pod["metadata"]["name"]
        files[f"default-{name}.log"] = scene.api.logs(name, SYSTEM, tail=LOG_LINES)
        files[f"default-{name}.yaml"] = _yaml([pod])
    return files


def leases(scene: Scene) -> Files:
    """Keep the leases of kube-system and of the claim's namespaces: who leads, since when, how often it changed."""
    places = dict.fromkeys([SYSTEM, *scene.namespaces])
    found = [lease for namespace in places for lease in scene.api.list("coordination.k8s.io/v1/Lease", namespace)[0]]
    return {"leases.yaml": _yaml(found)}


def audit(scene: Scene) -> Files:
    """Keep the audit log's lines of the claim's namespaces, its pods' uids and its schedulers' identities.

    Also, in one line each, what of it is about binding, conditions and leases.
    """
    if scene.audit is None:
        return {"audit.jsonl": "This cluster's audit log cannot be read.\n"}
    uids = {pod["metadata"]["uid"] for namespace in scene.namespaces for pod in scene.api.list("Pod", namespace)[0]}
    identities = {scheduler.identity for scheduler in scene.schedulers}
    lines = []
    for entry in scene.audit.entries():
        about = entry.get("objectRef") or {}
        user = (entry.get("user") or {}).get("username")
        if about.get("namespace") in scene.namespaces or about.get("uid") in uids or user in identities:
            lines.append(json.dumps(entry))
    return {"audit.jsonl": "\n".join(lines) + "\n", "audit.txt": "".join(_told(line) for line in lines)}


def _told(line: str) -> str:
    """Return an audit line as a reader wants it; empty when it is not about scheduling."""
    try:
        entry = parse(line)
    except NotAnEntry:
        return ""
    if entry is None:
        return ""
    what = f"to {entry.node}" if isinstance(entry, Binding) else ""
    what += " ".join(entry.conditions) if isinstance(entry, StatusPatch) else ""
    what += f"holder {entry.holder}" if isinstance(entry, LeaseUpdate) else ""
    parts = (
        entry.received.isoformat(),
        type(entry).__name__,
        f"{entry.namespace}/{entry.name} uid={entry.uid}",
        what,
        f"by {entry.who}",
        f"{entry.code} {entry.answer}",
    )
    return "  ".join(part for part in parts if part).rstrip() + "\n"


COLLECTORS: tuple[Callable[[Scene], Files], ...] = (
    pods, events, second_schedulers, audit, default_scheduler, leases, objects, events_wide,
)  # fmt: skip
"""All of them, the most telling first: when a claim's evidence grows too large, the last are cut."""


def _yaml(found: Iterable[Object]) -> str:
    # The items of a list carry apiVersion and kind last; a reader looks for them first.
    ordered = ({key: obj[key] for key in ("apiVersion", "kind") if key in obj} | redacted_object(obj) for obj in found)
    return yaml.safe_dump_all(ordered, sort_keys=False, default_flow_style=False)


def _once(found: Iterable[Object]) -> list[Object]:
    return list({obj["metadata"].get("uid", id(obj)): obj for obj in found}.values())


def _about(event: Object) -> str:
    return str((event.get("involvedObject") or {}).get("name") or "")


def _event_line(event: Object) -> str:
    about = event.get("involvedObject") or {}
    count = (event.get("series") or {}).get("count") or event.get("count") or 1
    parts = (
        told.when(event),
        event["metadata"].get("namespace", ""),
        event.get("type", ""),
        event.get("reason", ""),
        f"{about.get('kind', '')}/{about.get('name', '')} uid={about.get('uid', '')}",
        f"by={told.reporter(event) or '-'}",
        f"x{count}",
        event.get("message", ""),
    )
    return "  ".join(str(part).strip() for part in parts)
