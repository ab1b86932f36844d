"""A kept cluster is used again only when it is proved to be what is wanted; it is never taken on its name alone."""

from __future__ import annotations

from pathlib import Path

from schedproof.cluster import owner, ready
from schedproof.cluster.kind import Cluster
from schedproof.cluster.node import Node
from schedproof.cluster.owner import Ownership, Record
from schedproof.command import pasteable
from schedproof.errors import ClusterError
from schedproof.progress import progress


def reuse(
    existing: list[Node], wanted: Record, ownership: Ownership, *, kubectl: Path, kubernetes: str
) -> Cluster | None:
    """Return the existing cluster if it is proved to be what is wanted; None after removing one of ours that is broken.

    Raises:
        ClusterError: It is not ours, or of another image: it is left alone.
    """
    record = owner.read(wanted.name)
    others = sorted({node.image_id for node in existing} - {wanted.node_image_id})
    if record is None or others:
        raise ClusterError(
            f"the name {wanted.name} is free, or belongs to a cluster that schedproof made of {wanted.node_image}",
            seen=f"a cluster of that name runs {', '.join(others)}"
            if others
            else "schedproof has no record of making it",
            cause="somebody made it by hand, or the record was deleted; it is left alone",
            # kind by its path: on a machine where we fetched it there is none on PATH.
            cure=f"if it is not needed: {pasteable([wanted.kind, 'delete', 'cluster', '--name', wanted.name])}",
        )
    cluster = Cluster(wanted, ownership, kubectl=kubectl, kubernetes=kubernetes)
    with progress.step(f"checking the kept cluster {wanted.name}") as step:
        why = _unfit(existing, record, wanted, cluster)
        if not why:
            ownership.write(Record(**{**vars(wanted), "phase": "ready"}))
            return cluster
        step.say(f"made anew: {why}")
    cluster.delete()
    return None


def _unfit(existing: list[Node], record: Record, wanted: Record, cluster: Cluster) -> str:
    """Return why a cluster of ours cannot be used again, or an empty text."""
    stopped = [f"{node.name} is {node.state}" for node in existing if node.state != "running"]
    if record.config != wanted.config:
        return "it was made with another configuration"
    if record.phase != "ready":
        return "its creation was never finished"
    if stopped or len(existing) != wanted.nodes:
        return ", ".join(stopped) or f"it has {len(existing)} nodes, not {wanted.nodes}"
    if not cluster.kubeconfig_path.exists():
        return "its kubeconfig is gone"
    try:
        ready.wait_until_ready(cluster)
    except ClusterError as error:
        return f"not true that {error.message.expected}: {error.message.seen}"
    return ""
