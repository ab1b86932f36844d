"""A cluster of somebody else's (``EXISTING_KUBECONFIG``): only looked at, never created, changed or removed by us."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedproof.cluster.config import AUDIT_LOG
from schedproof.cluster.facts import Facts
from schedproof.cluster.node import run_in_node
from schedproof.command import CommandFailed
from schedproof.errors import ClusterError, HarnessError
from schedproof.kubectl import kubectl

PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
"""Taken when no node names a pause image among those it has; the nodes then pull it."""

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def adopt(kubeconfig: Path, program: Path) -> Facts:
    """Return what is known of the cluster behind a kubeconfig; the scheduler's fields are empty.

    The audit log counts as readable only when the cluster's first control plane is a container of our engine.

    Raises:
        ClusterError: It does not answer.
    """
    version = _ask(program, kubeconfig, "version")["serverVersion"]["gitVersion"]
    found: list[dict[str, Any]] = _ask(program, kubeconfig, "get", "nodes")["items"]
    names = {True: [], False: []}  # type: dict[bool, list[str]]
    for node in found:
        names[CONTROL_PLANE in node["metadata"].get("labels", {})].append(node["metadata"]["name"])
    return Facts(
        name=_name(found),
        kubeconfig=kubeconfig,
        kind=None,
        kubectl=program,
        kubernetes=version,
        node_image="",
        control_planes=tuple(names[True]),
        workers=tuple(names[False]),
        pause_image=_pause_image(found),
        scheduler_image="",
        scheduler_image_id="",
        scheduler_version="",
        audit=bool(names[True]) and _audit_readable(names[True][0]),
        owned=False,
    )


def _ask(program: Path, kubeconfig: Path, *args: str) -> dict[str, Any]:
    try:
        done = kubectl(program, kubeconfig, *args, "--output=json", "--request-timeout=15s", seconds=60)
    except CommandFailed as error:
        raise ClusterError(
            f"the cluster of {kubeconfig} answers",
            seen=error.message.seen,
            cause="the cluster is gone, not reachable from here, or refuses this user",
            cure=f"make `kubectl --kubeconfig {kubeconfig} get nodes` work first",
        ) from error
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _name(found: list[dict[str, Any]]) -> str:
    """Return kind's name of the cluster (its nodes' providerID is ``kind://docker/NAME/NODE``), else ``foreign``."""
    for node in found:
        parts = node.get("spec", {}).get("providerID", "").removeprefix("kind://").split("/")
        if len(parts) == 3:  # noqa: PLR2004 - provider, cluster, node
            return str(parts[1])
    return "foreign"


def _pause_image(found: list[dict[str, Any]]) -> str:
    """Return a pause image that every node already has, if there is one."""
    of_each = [
        {
            name
            for image in node.get("status", {}).get("images", [])
            for name in image.get("names") or []
            if name.rsplit("/", 1)[-1].startswith("pause:")
        }
        for node in found
    ]
    common = set.intersection(*of_each) if of_each else set()
    return max(common, default=PAUSE_IMAGE)


def _audit_readable(node: str) -> bool:
    try:
        return run_in_node(node, ["test", "-s", AUDIT_LOG], check=False).code == 0
    except HarnessError:
        return False  # no engine here: the cluster lives elsewhere
