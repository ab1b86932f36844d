"""A cluster is removed by kind, and by the engine where kind is gone or fails; then we check that nothing is left."""

from __future__ import annotations

import time

from schedproof.cluster.node import CLUSTER_LABEL
from schedproof.cluster.owner import Record
from schedproof.command import CommandFailed, run
from schedproof.errors import ClusterError
from schedproof.host.docker import docker
from schedproof.progress import progress

DELETE_SECONDS = 120.0
"""Deadline of ``kind delete cluster``; 2 s usually."""

SETTLE_LOOKS, SETTLE_SECONDS = 3, 0.5
"""After a creation that was broken off the engine may still start a container that it was asked for: look again."""

IMAGES = "schedproof/"
"""Every image that we build or tag begins so."""

ENVIRONMENT = {"KIND_EXPERIMENTAL_PROVIDER": "docker"}
"""A user's podman or nerdctl setting must not send kind to another engine than ours."""


def remove(record: Record, *, settle: bool = False) -> None:
    """Remove a cluster's containers by kind, and by the engine where kind is gone or fails; its files stay.

    Args:
        record: The cluster.
        settle: Look again for containers that the engine was still starting.

    Raises:
        ClusterError: Containers remain.
    """
    name = record.name
    fault = ""
    with progress.step(f"removing the cluster {name}"):
        try:
            run(
                [record.kind, "delete", "cluster", "--name", name, "--kubeconfig", record.folder / "kubeconfig"],
                seconds=DELETE_SECONDS,
                env=ENVIRONMENT,
            )
        except CommandFailed as error:
            fault = error.message.seen
        for look in range(SETTLE_LOOKS if settle else 1):
            time.sleep(SETTLE_SECONDS if look else 0)
            if names := _containers(name):
                docker("rm", "--force", "--volumes", *names, seconds=DELETE_SECONDS, check=False)
        if names := _containers(name):
            raise ClusterError(
                f"nothing of the cluster {name} remains",
                seen=f"still there: {', '.join(names)}\n{fault}".strip(),
                cause="the engine could not remove them",
                cure=f"docker rm --force --volumes {' '.join(names)}; the next run tries again too",
            )
        _drop_untagged(record)


def _drop_untagged(record: Record) -> None:
    """Remove the node image if it is one that we built and that has lost its name to a newer build: 1 GB for nobody."""
    if record.node_image.startswith(IMAGES):
        tags = docker("image", "inspect", "--format", "{{len .RepoTags}}", record.node_image_id, check=False)
        if tags.stdout.strip() == "0":
            docker("rmi", record.node_image_id, seconds=DELETE_SECONDS, check=False)


def _containers(name: str) -> list[str]:
    listed = docker("ps", "--all", "--filter", f"label={CLUSTER_LABEL}={name}", "--format", "{{.Names}}")
    return listed.stdout.split()
