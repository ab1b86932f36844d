"""The state of objects in a few words, for messages."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.api import Object

SHOWN = 8
"""So many objects are shown; the rest is counted."""


def lines(objects: Sequence[Object], *, shown: int = SHOWN) -> str:
    """Return a line for each object, the first ``shown`` of them."""
    if not objects:
        return "there is none"
    words = [line(obj) for obj in objects[:shown]]
    if len(objects) > shown:
        words.append(f"... and {len(objects) - shown} more")
    return "\n".join(words)


def line(obj: Object) -> str:
    """Return kind, name and what its status says, e.g. ``Pod a/pod3: Pending, for my-scheduler, bound to no node``."""
    meta = obj.get("metadata", {})
    name = "/".join(part for part in (meta.get("namespace"), meta.get("name")) if part)
    words = _pod(obj) if obj.get("kind") == "Pod" else _any(obj)
    if meta.get("deletionTimestamp"):
        words.append(f"being deleted since {meta['deletionTimestamp']}")
    return f"{obj.get('kind', 'object')} {name}: {', '.join(words) or 'no status yet'}"


def trouble(pod: Object) -> list[str]:
    """Return why containers of a pod are not running: ``scheduler waits: ErrImageNeverPull (...)``."""
    status = pod.get("status", {})
    words = []
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        state = container.get("state") or {}
        if waiting := state.get("waiting"):
            words.append(f"{container['name']} waits: {_reason(waiting)}")
        if ended := state.get("terminated") or (container.get("lastState") or {}).get("terminated"):
            words.append(f"{container['name']} ended with code {ended.get('exitCode')}: {_reason(ended)}")
    return words


def _pod(pod: Object) -> list[str]:
    spec, status = pod.get("spec", {}), pod.get("status", {})
    words = [
        str(status.get("phase", "no phase")),
        f"for {spec.get('schedulerName', 'default-scheduler')}",
        f"bound to {spec['nodeName']}" if spec.get("nodeName") else "bound to no node",
    ]
    if status.get("reason"):
        words.append(_reason(status))
    return words + _conditions(status) + trouble(pod)


def _any(obj: Object) -> list[str]:
    status = obj.get("status") or {}
    counts = [
        f"{field} {status[field]}"
        for field in ("replicas", "readyReplicas", "updatedReplicas", "desiredNumberScheduled", "numberReady", "phase")
        if field in status
    ]
    return counts + _conditions(status)


def conditions(found: Sequence[Object]) -> str:
    """Return conditions with their reasons, e.g. ``PodScheduled=False Unschedulable (0/3 nodes are available)``."""
    return ", ".join(f"{c['type']}={c['status']}" + (f" {_reason(c)}" if c.get("reason") else "") for c in found)


def _conditions(status: Object) -> list[str]:
    """Return the conditions that are not as they should be, or say that there is none."""
    found = status.get("conditions") or []
    bad = [c for c in found if c.get("status") != ("False" if c["type"].endswith("Pressure") else "True")]
    if not found:
        return ["no condition"]
    return [conditions(bad)] if bad else []


def _reason(part: Object) -> str:
    message = " ".join(str(part.get("message") or "").split())
    return str(part.get("reason") or "no reason") + (f" ({message[:200]})" if message else "")
