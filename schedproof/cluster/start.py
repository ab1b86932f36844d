"""The cluster of a run: a new one, the kept one when it is still what it claims to be, or somebody else's."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from schedproof import command
from schedproof.cluster import config, network, owner
from schedproof.cluster.kind import Cluster
from schedproof.cluster.node import nodes
from schedproof.cluster.owner import Ownership, Record
from schedproof.cluster.reuse import reuse
from schedproof.cluster.signals import terminable
from schedproof.cluster.sweep import sweep
from schedproof.command import CommandFailed, run
from schedproof.errors import ClusterError, HarnessError, ImageError, UsageError
from schedproof.host.docker import docker
from schedproof.progress import progress
from schedproof.settings import Settings

LEAST_KIND = ((37, (0, 32)), (0, (0, 24)))
"""From which Kubernetes minor version on which kind is needed: kubeadm 1.37 refuses v1beta3, and kind writes v1beta4
since v0.32."""

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,48}[a-z0-9])?")
"""kind's rule for names, and short enough for a host name with ``-control-plane`` behind it (63 characters)."""

WhileBooting = Callable[[Cluster], object]


@contextlib.contextmanager
def running(
    settings: Settings,
    *,
    kind: Path,
    kubectl: Path,
    node_image: str,
    kubernetes: str,
    while_booting: WhileBooting | None = None,
) -> Iterator[Cluster]:
    """Yield the cluster of a run; remove it after the block (or keep it), whatever happens. See :func:`start`.

    A fault of the removal is told but does not replace the error that ended the block.
    """
    with terminable():
        cluster = start(
            settings,
            kind=kind,
            kubectl=kubectl,
            node_image=node_image,
            kubernetes=kubernetes,
            while_booting=while_booting,
            name=settings.cluster,
        )
        try:
            yield cluster
        except BaseException as error:
            _close_after(cluster, error)
            raise
        cluster.close()


def start(
    settings: Settings,
    *,
    kind: Path,
    kubectl: Path,
    node_image: str,
    kubernetes: str,
    while_booting: WhileBooting | None = None,
    name: str = "",
) -> Cluster:
    """Return a cluster that is ready; the caller ends it with :meth:`Cluster.close`.

    Call it in the main thread: a signal then breaks the creation off and everything is removed.

    Args:
        settings: ``keep`` and ``nodes`` matter.
        kind: The kind program.
        kubectl: The kubectl program.
        node_image: Tag of an image in the engine.
        kubernetes: Its version.
        while_booting: Run in a thread as soon as images can be loaded, beside kubeadm; ends before we return.
        name: Name of the cluster; by default made from the hash of node image and configuration.

    Raises:
        ClusterError: It cannot be made, or a cluster of this name exists that is not ours to reuse or remove.
        ImageError: The node image is not in the engine.
        UsageError: The name is none for kind.
    """
    require_kind(kind, kubernetes)
    image_id = _image_id(node_image)
    digest = config.digest(settings.nodes)
    base = name or owner.PREFIX + hashlib.sha256(f"{image_id} {digest}".encode()).hexdigest()[:8]
    if not _NAME.fullmatch(base):
        raise UsageError(
            "a cluster's name has 1 to 50 lower-case letters, digits, dots and dashes",
            seen=repr(base),
            cure="choose another",
        )
    with terminable():
        sweep()
        _tell_of_others(base)
        ownership, keep = _own(base, keep=settings.keep, exact=bool(name))
        try:
            record = Record(
                name=ownership.name, phase="creating", keep=keep, pid=os.getpid(), node_image=node_image,
                node_image_id=image_id, config=digest, nodes=settings.nodes, kind=str(kind),
            )  # fmt: skip
            if existing := nodes(ownership.name):
                cluster = reuse(existing, record, ownership, kubectl=kubectl, kubernetes=kubernetes)
                if cluster is not None:
                    if while_booting is not None:
                        while_booting(cluster)
                    return cluster
                ownership = _take_again(ownership.name)
            cluster = Cluster(record, ownership, kubectl=kubectl, kubernetes=kubernetes)
            with network.noted():
                _create(cluster, while_booting)
        except BaseException:
            ownership.release()
            raise
        return cluster


def _own(base: str, *, keep: bool, exact: bool) -> tuple[Ownership, bool]:
    """Take the name that fits: the bare one for a cluster to keep, else one of this run's own."""
    if keep or exact:
        ownership = owner.take(base)
        if ownership is not None:
            return ownership, keep
        user = f"process {record.pid}" if (record := owner.read(base)) else "another process"
        progress.line(f"  the cluster {base} is in use by {user}: this run makes one of its own, which is not kept")
    while True:
        ownership = owner.take(f"{base}-{secrets.token_hex(2)}")
        if ownership is not None:
            return ownership, False


def _tell_of_others(name: str) -> None:
    """Say which kept clusters lie about: one is kept for each node image and configuration, and each costs memory."""
    for record in owner.records():
        if record.keep and record.phase == "ready" and record.name != name:
            progress.line(f"  also kept: the cluster {record.name} ({record.node_image}); `make clean` removes it")


def _take_again(name: str) -> Ownership:
    ownership = owner.take(name)
    if ownership is None:
        raise ClusterError(f"the name {name} is free", seen="another run took it in the same moment", cure="run again")
    return ownership


class _Meanwhile(threading.Thread):
    """Work beside the creation. A daemon: a run that fails does not wait for it."""

    def __init__(self, cluster: Cluster, work: WhileBooting) -> None:
        super().__init__(name="while-booting", daemon=True)
        self._cluster, self._work = cluster, work
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._cluster.wait_until_loadable()
            self._work(self._cluster)
        except BaseException as error:  # noqa: BLE001 - carried to the main thread
            self.error = error

    def finish(self) -> None:
        """Wait for the end, and raise what went wrong."""
        self.join()
        if self.error is not None:
            raise self.error


def _create(cluster: Cluster, while_booting: WhileBooting | None) -> None:
    meanwhile = _Meanwhile(cluster, while_booting) if while_booting else None
    try:
        if meanwhile:
            meanwhile.start()
        cluster.create()
    except BaseException:
        if meanwhile and meanwhile.is_alive():
            command.end_all()
        raise
    if meanwhile:
        try:
            meanwhile.finish()
        except BaseException as error:
            _close_after(cluster, error)
            raise


def _close_after(cluster: Cluster, error: BaseException) -> None:
    try:
        cluster.close()
    except HarnessError as fault:
        error.add_note(f"and afterwards: {fault}")
        progress.line(f"! {fault}")


def require_kind(kind: Path, kubernetes: str) -> None:
    """Check that kind runs and is new enough for this Kubernetes.

    Raises:
        ClusterError: It is not.
    """
    said = run([kind, "version"], seconds=20, cure="`make doctor`").stdout
    version = re.search(r"v(\d+)\.(\d+)\.\d+", said)
    minor = int(kubernetes.split(".")[1]) if kubernetes.count(".") else 0
    least = next(needed for since, needed in LEAST_KIND if minor >= since)
    if version is None or (int(version[1]), int(version[2])) < least:
        raise ClusterError(
            f"kind is v{least[0]}.{least[1]}.0 or newer for Kubernetes {kubernetes}",
            seen=f"{kind} says: {said.strip() or 'nothing'}",
            cause="an older kind writes a configuration that this kubeadm does not read",
            cure="take that kind off PATH or replace it; PROVIDERS=kind=module builds a suitable one",
        )


def _image_id(image: str) -> str:
    try:
        return docker("image", "inspect", "--format", "{{.Id}}", image).stdout.strip()
    except CommandFailed as error:
        raise ImageError(
            f"the node image {image} is in the engine",
            seen=error.message.seen,
            cure="check NODE_IMAGE, or leave it out",
        ) from error
