"""What a pod's status says: bound, running, or never going to run."""

from __future__ import annotations

from typing import Any

from schedproof.api import Object

MEANING = {
    "CrashLoopBackOff": "its program starts and ends again; see its log",
    "CreateContainerConfigError": "something it mounts or reads its environment from does not exist",
    "CreateContainerError": "the node's container runtime refuses it",
    "ErrImageNeverPull": "its image is not on the node, and imagePullPolicy Never forbids a pull",
    "ErrImagePull": "its image cannot be pulled; a :latest tag or imagePullPolicy Always pulls even what was loaded",
    "ImagePullBackOff": "its image cannot be pulled, see ErrImagePull among its events",
    "InvalidImageName": "its image's name is not one",
    "RunContainerError": "its command cannot be run: is the program where the manifest says?",
}
"""Reasons for which a container waits that do not go away within a claim, and what each means."""


def is_bound(pod: Object) -> bool:
    """Whether the pod has a node."""
    return bool(pod["spec"].get("nodeName"))


def is_running(pod: Object) -> bool:
    """Whether all containers of the pod run."""
    status: dict[str, Any] = pod.get("status", {})
    containers = status.get("containerStatuses") or []
    return status.get("phase") == "Running" and all("running" in (each.get("state") or {}) for each in containers)


def why_not_running(pod: Object) -> str | None:
    """Return why the pod will not run any more, or None while it may."""
    status: dict[str, Any] = pod.get("status", {})
    if pod["metadata"].get("deletionTimestamp"):
        return "the pod is being deleted"
    if status.get("phase") in ("Failed", "Succeeded"):
        return f"the pod has ended ({status['phase']}): {status.get('reason') or 'its containers ended'}"
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        reason = ((container.get("state") or {}).get("waiting") or {}).get("reason")
        if reason in MEANING:
            return f"container {container['name']}: {reason}: {MEANING[reason]}"
    return None
