"""An image from the engine into every node, without a registry.

``docker save`` once, then ``ctr images import`` in all nodes side by side. kind's own ``load docker-image`` imports
*all* platforms and fails with engines whose image store keeps only this machine's (kind#3795); we ask for one.
"""

from __future__ import annotations

import json
import os
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from schedproof.cluster.node import image_id, nodes, run_in_node
from schedproof.command import CommandFailed
from schedproof.errors import ClusterError, ImageError
from schedproof.host.docker import docker
from schedproof.progress import progress

LOAD_SECONDS = 180.0
"""Deadline for saving an image, and for importing it into one node; 80 MB take about a second each."""

LOADABLE_SECONDS = 180.0
"""Deadline for all node containers to run containerd; 5 to 10 s after the start of ``kind create cluster``."""

SEEN_SECONDS = 10.0
"""containerd tells its Kubernetes side of a new image by an event; so long we wait for crictl to know it."""

PAUSE = 0.3
"""Seconds between two looks at the nodes while they boot."""


def wait_until_loadable(cluster: str, count: int, given_up: threading.Event) -> None:
    """Wait until ``count`` node containers of the cluster run containerd.

    Args:
        cluster: kind's name of it.
        count: How many nodes it is to have.
        given_up: Set when the creation has failed: waiting ends at once.

    Raises:
        ClusterError: It was given up, or the deadline passed.
    """
    until = time.monotonic() + LOADABLE_SECONDS
    loadable: set[str] = set()
    while True:
        found = [node for node in nodes(cluster) if node.role != "external-load-balancer"]
        loadable |= {
            node.name for node in found if node.name not in loadable and _runs_containerd(node.name, node.state)
        }
        if len(loadable) >= count:
            return
        if given_up.wait(PAUSE) or time.monotonic() > until:
            raise ClusterError(
                f"{count} nodes of the cluster {cluster} run containerd",
                seen=", ".join(f"{node.name} {node.state}" for node in found) or "no node container",
                cause="the cluster's creation failed" if given_up.is_set() else "the nodes boot too slowly",
                cure="see the error of the creation" if given_up.is_set() else "`make doctor`",
            )


def _runs_containerd(node: str, state: str) -> bool:
    return state == "running" and run_in_node(node, ["ctr", "version"], check=False).code == 0


def load(image: str, names: Sequence[str], folder: Path) -> str:
    """Load an image into the named nodes side by side, and check that each has it.

    Args:
        image: Its tag in the engine.
        names: The nodes.
        folder: Where the archive may lie meanwhile, as large as the image.

    Returns:
        The image's config digest, ``sha256:...``.

    Raises:
        ImageError: It is not in the engine, cannot be imported, or a node has another image under that name.
    """
    if not names:
        raise ImageError(f"there are nodes to load {image} into", seen="no node container of the cluster exists")
    if known := _everywhere(image, names):
        return known
    with (
        progress.step(f"loading {image} into {len(names)} node(s)") as step,
        tempfile.TemporaryDirectory(prefix="load-", dir=folder) as scratch,
    ):
        archive = Path(scratch) / "image.tar"
        platform = _save(image, archive)
        digest = config_digest(archive)
        done = 0
        with ThreadPoolExecutor(len(names)) as pool:
            for _ in pool.map(lambda name: _import(name, image, archive, platform, digest), names):
                done += 1
                step.advance(done, len(names))
    return digest


def _everywhere(image: str, names: Sequence[str]) -> str:
    """Return the image's id if every node has it already, as on a kept cluster; then nothing need be saved.

    With the containerd store the ids differ although the image is the same: it is then saved and compared by digest.
    """
    asked = docker("image", "inspect", "--format", "{{.Id}}", image, check=False)
    identity = asked.stdout.strip()
    if asked.code == 0 and all(image_id(name, image) == identity for name in names):
        return identity
    return ""


def _save(image: str, archive: Path) -> str:
    """Write the image into an archive and return its platform, e.g. ``linux/amd64``."""
    try:
        platform = docker("image", "inspect", "--format", "{{.Os}}/{{.Architecture}}", image).stdout.strip()
        docker("save", "--output", archive, image, seconds=LOAD_SECONDS)
    except CommandFailed as error:
        raise ImageError(
            f"the image {image} is in the engine and can be saved",
            seen=error.message.seen,
            cause="it was never built or pulled, or the disk is full",
            cure="`docker images`, `df -h`",
        ) from error
    return platform


def config_digest(archive: Path) -> str:
    """Return the config digest of the image in an archive of ``docker save``: the one id that engine and nodes share.

    (What docker calls the image's id is the config digest with overlay2, but a manifest's with the containerd store.)
    """
    try:
        with tarfile.open(archive) as tar:
            member = tar.extractfile("manifest.json")
            config: str = json.loads(member.read() if member else b"")[0]["Config"]
    except (tarfile.TarError, KeyError, IndexError, ValueError, OSError) as error:
        raise ImageError(
            "`docker save` writes an archive with a manifest.json", seen=f"{type(error).__name__}: {error}"
        ) from error
    return "sha256:" + config.rsplit("/", 1)[-1].removesuffix(".json")


def _import(node: str, image: str, archive: Path, platform: str, digest: str) -> None:
    if image_id(node, image) == digest:
        return
    snapshotter = os.environ.get("KIND_EXPERIMENTAL_CONTAINERD_SNAPSHOTTER", "")
    options = [f"--snapshotter={snapshotter}"] if snapshotter else []
    try:
        run_in_node(
            node,
            ["ctr", "--namespace", "k8s.io", "images", "import", "--platform", platform, *options, "-"],
            seconds=LOAD_SECONDS,
            stdin=archive,
        )
    except CommandFailed as error:
        raise ImageError(
            f"node {node} imports {image}", seen=error.message.seen, cure="`make doctor` (disk, image store)"
        ) from error
    seen = Retrying(
        stop=stop_after_delay(SEEN_SECONDS),
        wait=wait_fixed(0.1),
        retry=retry_if_result(lambda answer: answer != digest),
        retry_error_callback=lambda state: state.outcome.result() if state.outcome else "",
    )(image_id, node, image)
    if seen != digest:
        raise ImageError(
            f"node {node} has {image} as {digest}",
            seen=f"it has {seen or 'no such image'}",
            cause="the tag was moved meanwhile, or containerd did not take the image",
            cure="run again",
        )
