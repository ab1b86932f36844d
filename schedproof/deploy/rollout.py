"""How far a Deployment's rollout is, as its Pods and its status say it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from schedproof.deploy import bundle, causes

if TYPE_CHECKING:
    from schedproof.api import Object

ROLLED = "schedproof.io/rolled"
"""Label of our pods with a digest of template and configuration: tells new pods from old ones, and a new configuration
rolls the pods (the kubelet alone would let the old process run on with the old one)."""


def mark(objects: list[Object]) -> str:
    """Label the workload's pods with the digest of their template and of the bundle's ConfigMaps, and return it."""
    workload = bundle.workload(objects)
    if workload is None:
        return ""
    template = workload["spec"]["template"]
    told = [template, *(obj for obj in objects if obj["kind"] == "ConfigMap")]
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]
    template.setdefault("metadata", {}).setdefault("labels", {})[ROLLED] = digest
    return digest


def ending(pod: Object) -> bool:
    """Whether a Pod is being deleted."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def ready(pod: Object) -> bool:
    """Whether a Pod is Ready and not being deleted."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    return not ending(pod) and any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def restarts(pod: Object) -> int:
    """Return how often containers of a Pod were restarted."""
    return sum(one.get("restartCount", 0) for one in (pod.get("status") or {}).get("containerStatuses") or [])


def rolled_out(deployment: Object, wanted: int) -> bool:
    """Whether a Deployment has seen its newest spec and runs ``wanted`` ready Pods of it, and no others."""
    status: dict[str, Any] = deployment.get("status") or {}
    return bool(
        status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
        and status.get("replicas", 0) == status.get("updatedReplicas", 0) == status.get("readyReplicas", 0) == wanted
    )


def described(pod: Object) -> str:
    """Return a Pod in one line: node, phase, readiness, restarts, and what it is stuck at."""
    status = pod.get("status") or {}
    held = causes.stuck([pod])
    parts = [
        f"Pod {pod['metadata']['name']}",
        f"on {(pod.get('spec') or {}).get('nodeName') or 'no node'}",
        "being deleted" if ending(pod) else str(status.get("phase", "")),
        "ready" if ready(pod) else "not ready",
        f"{restarts(pod)} restarts",
    ]
    return ", ".join(parts) + (f"; {held.reason}: {held.said}"[:240] if held else "")
