"""What a registry leaves when its run was killed: found by its label, removed by the next run or at this one's end."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from schedproof.cluster import owner
from schedproof.cluster.node import CRICTL, images, nodes, run_in_node
from schedproof.cluster.signals import shielded
from schedproof.errors import HarnessError
from schedproof.host.docker import docker
from schedproof.progress import progress

LABEL = "schedproof.registry"
"""On each registry's container: the cluster whose nodes reach it."""

UNIT = "schedproof-registry"
"""Name of container, socket and service of a registry begin so."""

PULLED = re.compile(r"127\.0\.0\.1:\d+/schedproof/")
"""How the names of what was pushed begin."""


def remove(cluster: str) -> list[str]:
    """Remove the registries of a cluster that is this process', and return the names of their containers.

    Raises:
        CommandFailed: The engine refused.
    """
    found = _containers(cluster)
    if found:
        docker("rm", "--force", "--volumes", *found, seconds=60)
        _forget_unserved()
        for node in nodes(cluster):
            if node.state == "running" and node.role != "external-load-balancer":
                clean_node(node.name)
    return found


@contextlib.contextmanager
def removed_at_the_end(cluster: str) -> Iterator[None]:
    """Remove after the block, whatever ended it, the registries that claims could not remove themselves.

    A fault is told and hides nothing: the next run tries again.
    """
    try:
        yield
    finally:
        try:
            with shielded():
                remove(cluster)
        except HarnessError as fault:
            progress.line(f"! a registry of the cluster {cluster} remains:\n{fault}")


def sweep() -> list[str]:
    """Remove the registries of clusters whose runs are dead, and return the names of their containers.

    Raises:
        CommandFailed: The engine refused.
    """
    removed: list[str] = []
    for cluster in clusters():
        ownership = owner.take(cluster)
        if ownership is None:
            continue  # a live run's
        try:
            removed += remove(cluster)
        finally:
            ownership.release()
    return removed


def clean_node(node: str, unit: str = f"{UNIT}-*", address: str = "") -> None:
    """Remove from a node the way to a registry and the images that were pulled from it.

    Args:
        node: The node.
        unit: Name of the registry's units; by default all registries'.
        address: Its ``host:port``; by default any.

    Raises:
        CommandFailed: The node does not answer.
    """
    run_in_node(node, ["systemctl", "stop", f"{unit}.socket", f"{unit}.service"], check=False)
    prefix = f"{address}/" if address else ""
    pulled = [
        image["id"]
        for image in images(node)
        if any(
            PULLED.match(name) and name.startswith(prefix)
            for name in (image.get("repoTags") or []) + (image.get("repoDigests") or [])
        )
    ]
    if pulled:
        run_in_node(node, [*CRICTL, "rmi", *pulled], check=False)


def forget_pushed(address: str) -> None:
    """Remove the engine's images that have names in the registry at an address.

    Raises:
        CommandFailed: The engine refused to list them.
    """
    for name, identity in _pushed():
        if name.startswith(f"{address}/"):
            # Without a tag (it was moved to a newer build) only the id is a name.
            docker("rmi", identity if name.endswith(":<none>") else name, check=False)


def _forget_unserved() -> None:
    """Remove the engine's images that have names in registries which are no more."""
    served = docker("ps", "--filter", f"label={LABEL}", "--format", "{{.Ports}}").stdout
    for address in {name.partition("/")[0] for name, _ in _pushed()}:
        if f"{address}->" not in served:
            forget_pushed(address)


def _pushed() -> list[tuple[str, str]]:
    """Return name and id of the engine's images that were pushed to registries of ours."""
    listed = docker("images", "--format", "{{.Repository}}:{{.Tag}} {{.ID}}").stdout.splitlines()
    named = [(line.split()[0], line.split()[1]) for line in listed]
    return [(name, identity) for name, identity in named if PULLED.match(name)]


def _containers(cluster: str) -> list[str]:
    listed = docker("ps", "--all", "--filter", f"label={LABEL}={cluster}", "--format", "{{.Names}}")
    return listed.stdout.split()


def clusters() -> list[str]:
    """Return the names of the clusters that have a registry.

    Raises:
        CommandFailed: The engine refused.
    """
    form = f'{{{{.Label "{LABEL}"}}}}'
    return sorted(set(docker("ps", "--all", "--filter", f"label={LABEL}", "--format", form).stdout.split()))
