"""What ``make clean`` lists and removes of clusters and images: what we made, and nothing else."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from schedproof import folders
from schedproof.cluster import network, owner
from schedproof.cluster.node import CLUSTER_LABEL, nodes
from schedproof.cluster.removal import IMAGES
from schedproof.cluster.removal import remove as remove_cluster
from schedproof.cluster.sweep import end_creation
from schedproof.command import CommandFailed
from schedproof.delivery import leftovers
from schedproof.errors import HarnessError
from schedproof.host.docker import docker

BUILDER = "schedproof-node-image-"
"""Name of the container in which schedproof.images.node_build puts a node image together; its version follows."""


@dataclass(frozen=True)
class Item:
    """One thing that can be removed.

    Attributes:
        kind: ``cluster``, ``registry``, ``container``, ``network``, ``image`` or ``folder``.
        name: Its name or path.
        size: For people: ``3 nodes``, ``1.3GB``; empty when it means nothing.
        remove: Removes it; raises :class:`HarnessError` when it cannot.
    """

    kind: str
    name: str
    size: str
    remove: Callable[[], None]


def items() -> list[Item]:
    """Return what there is, in the order in which it can be removed. Clusters of live runs are left out.

    Without an engine only folders are listed: containers and images are gone with it or cannot be asked for.
    """
    found: list[Item] = []
    try:
        docker("version", seconds=10)
    except HarnessError:
        return _folders()
    found += _registries() + _clusters() + _containers()
    if network.ours():
        found.append(Item("network", network.name(), "", _remove_network))
    return found + _images() + _folders()


def remove(chosen: list[Item]) -> list[str]:
    """Remove the items and return what could not be removed and why; one fault does not stop the rest."""
    faults = []
    for item in chosen:
        try:
            item.remove()
        except (HarnessError, OSError) as fault:
            faults.append(f"{item.kind} {item.name}: {fault}")
    return faults


def forget() -> None:
    """Forget the clusters of dead runs: the engine that had them is gone with all its containers."""
    for record in owner.records():
        if (ownership := owner.take(record.name)) is not None:
            ownership.forget()
            ownership.release()


def _clusters() -> list[Item]:
    found = []
    for record in owner.records():
        ownership = owner.take(record.name)
        if ownership is None:
            continue
        ownership.release()
        count = len(nodes(record.name))
        found.append(Item("cluster", record.name, f"{count} node(s)", _cluster_remover(record)))
    return found


def _cluster_remover(record: owner.Record) -> Callable[[], None]:
    def remove() -> None:
        ownership = owner.take(record.name)
        if ownership is None:
            raise HarnessError(f"the cluster {record.name} is not in use", seen="a run has begun to use it")
        try:
            end_creation(record)
            remove_cluster(record)
            ownership.forget()
        finally:
            ownership.release()

    return remove


def _containers() -> list[Item]:
    """Return containers in which a killed run was building a node image; that of a live build is left out."""
    listed = docker("ps", "--all", "--filter", f"name=^{BUILDER}", "--format", "{{.Names}}").stdout.split()
    found = []
    for name in listed:
        with contextlib.suppress(HarnessError), folders.lock(f"node-image-{name.removeprefix(BUILDER)}", seconds=0):
            found.append(Item("container", name, "", _container_remover(name)))
    return found


def _container_remover(name: str) -> Callable[[], None]:
    def remove() -> None:
        docker("rm", "--force", "--volumes", name, seconds=120)

    return remove


def _registries() -> list[Item]:
    """Return the registries of clusters whose runs are dead."""
    found = []
    for cluster in leftovers.clusters():
        if (ownership := owner.take(cluster)) is not None:
            ownership.release()
            found.append(Item("registry", f"of {cluster}", "", _sweep_registries))
    return found


def _sweep_registries() -> None:
    leftovers.sweep()


def _remove_network() -> None:
    others = docker("ps", "--all", "--filter", f"label={CLUSTER_LABEL}", "--format", "{{.Names}}").stdout.split()
    if others:
        raise HarnessError(
            "no kind cluster uses the network any more", seen=", ".join(others), cure="it goes with the last of them"
        )
    network.remove()


def _images() -> list[Item]:
    listed = docker(
        "images", "--filter", f"reference={IMAGES}*", "--format", "{{.Repository}}:{{.Tag}}\t{{.ID}}\t{{.Size}}"
    )
    found = []
    for line in listed.stdout.splitlines():
        name, identity, size = line.split("\t")
        target = identity if name.endswith(":<none>") else name
        found.append(Item("image", name, size, _image_remover(target)))
    return found


def _image_remover(target: str) -> Callable[[], None]:
    def remove() -> None:
        try:
            docker("rmi", target, seconds=120)
        except CommandFailed as error:
            raise HarnessError(
                f"the image {target} can be removed", seen=error.message.seen, cure="remove the containers that use it"
            ) from error

    return remove


def _folders() -> list[Item]:
    removers = {folders.cache(): lambda: shutil.rmtree(folders.cache()), folders.state(): _remove_state}
    return [Item("folder", str(path), _size(path), remove) for path, remove in removers.items() if any(path.iterdir())]


def _remove_state() -> None:
    """Remove the state folder, unless a cluster remains: without its record it would be nobody's."""
    if names := [record.name for record in owner.records()]:
        raise HarnessError(
            "no cluster of ours remains when the state folder is removed",
            seen=f"there are records of {', '.join(names)}",
            cause="a run is using them, or they could not be removed",
            cure="end the run or start the engine, then `make clean` again",
        )
    shutil.rmtree(folders.state())


def _size(path: Path) -> str:
    total = sum(file.lstat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())
    return f"{total / 1e9:.1f}GB" if total > 1e9 else f"{total / 1e6:.1f}MB"  # noqa: PLR2004 - where a GB begins
