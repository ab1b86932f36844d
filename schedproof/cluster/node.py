"""The nodes of a kind cluster, which are containers: the one door into them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedproof.command import Completed
from schedproof.errors import ClusterError
from schedproof.host.docker import docker

CLUSTER_LABEL = "io.x-k8s.kind.cluster"
"""kind puts the cluster's name on each of its containers under this label; it is kind's only record of a cluster."""

ROLE_LABEL = "io.x-k8s.kind.role"

CRICTL = ("crictl", "--runtime-endpoint", "unix:///run/containerd/containerd.sock")
"""crictl, told where containerd listens, so that it works before the node has a crictl.yaml."""

QUICK = 30.0
"""Seconds for a question inside a node."""


@dataclass(frozen=True)
class Node:
    """A node's container.

    Attributes:
        name: Of the container and of the Kubernetes node.
        role: ``control-plane``, ``worker`` or ``external-load-balancer``.
        state: docker's word: ``running``, ``exited``, ``created``, ...
        image_id: Id of the image it was made from, as docker names it.
    """

    name: str
    role: str
    state: str
    image_id: str


def nodes(cluster: str) -> list[Node]:
    """Return the containers of a cluster control planes first, ``x-worker`` before ``x-worker2``; also stopped ones."""
    listed = docker("ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={CLUSTER_LABEL}={cluster}")
    ids = listed.stdout.split()
    if not ids:
        return []
    # A container may vanish between the two questions: inspect then fails, but still prints those it found.
    inspected = docker("inspect", "--type", "container", *ids, check=False)
    found: list[dict[str, Any]] = json.loads(inspected.stdout or "[]")
    return sorted(
        (
            Node(
                name=each["Name"].lstrip("/"),
                role=each["Config"]["Labels"].get(ROLE_LABEL, ""),
                state=each["State"]["Status"],
                image_id=each["Image"],
            )
            for each in found
        ),
        key=lambda node: (node.role != "control-plane", len(node.name), node.name),
    )


def run_in_node(
    node: str,
    argv: Sequence[str],
    *,
    seconds: float = QUICK,
    check: bool = True,
    stdin: str | bytes | Path | None = None,
) -> Completed:
    """Run a program inside a node as root.

    Args:
        node: Name of the node (and container).
        argv: Program and arguments; use ``["sh", "-c", ...]`` only for what needs a shell in the node.
        seconds: Deadline.
        check: Whether an exit code other than 0 raises.
        stdin: What the program reads.

    Raises:
        CommandFailed: It failed (with ``check``) or ran too long.
    """
    interactive = ["--interactive"] if stdin is not None else []
    return docker(
        *("exec", *interactive, node, *argv),
        seconds=seconds,
        check=check,
        stdin=stdin,
        cure=f"look inside: docker exec -it {node} bash",
    )


def images(node: str) -> list[dict[str, Any]]:
    """Return the images that a node has, as crictl lists them (``id``, ``repoTags``, ...)."""
    listed = run_in_node(node, [*CRICTL, "images", "--output", "json"])
    found: list[dict[str, Any]] = json.loads(listed.stdout)["images"]
    return found


def image_id(node: str, image: str) -> str:
    """Return the config digest (``sha256:...``) under which a node has an image, or an empty text."""
    asked = run_in_node(node, [*CRICTL, "inspecti", "--output", "json", image], check=False)
    return str(json.loads(asked.stdout)["status"]["id"]) if asked.code == 0 else ""


def pause_image(node: str) -> str:
    """Return an image that every node has from the start and that does nothing: what the documents' pods run.

    Raises:
        ClusterError: The node has none.
    """
    tags: list[str] = [tag for image in images(node) for tag in image.get("repoTags") or []]
    found = sorted(tag for tag in tags if tag.rsplit("/", 1)[-1].startswith("pause:"))
    if not found:
        raise ClusterError(
            f"node {node} has a pause image",
            seen="its images: " + (", ".join(sorted(tags)) or "none"),
            cause="the node image is not one of kind's or ours",
            cure="use another NODE_IMAGE",
        )
    return found[-1]


def server_version(node: str) -> str:
    """Return the Kubernetes version of a node's image, e.g. ``v1.37.2`` (kind keeps it in ``/kind/version``)."""
    return run_in_node(node, ["cat", "/kind/version"]).stdout.strip()
