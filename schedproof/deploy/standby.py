"""Standing by: a scheduler that waits for a lease that somebody else holds is Running, Ready and useless."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedproof.deploy import rollout

if TYPE_CHECKING:
    from schedproof.api import Object


def behind(lease: Object | None, pods: Sequence[Object], *, now: datetime | None = None) -> str:
    """Return in one sentence that a lease is held by another than these Pods; empty when it is not.

    Args:
        lease: The Lease that they elect their leader with; None where there is none yet.
        pods: The scheduler's Pods. A kube-scheduler holds its lease as ``<host name>_<random>``, and a Pod's host name
            is its own, or its node's on the host's network.
        now: The time, by default that of this machine.
    """
    spec = (lease or {}).get("spec") or {}
    holder = str(spec.get("holderIdentity") or "")
    if lease is None or not holder or not any(rollout.ready(pod) for pod in pods):
        return ""
    hosts = {str(pod["metadata"]["name"]) for pod in pods}
    hosts |= {str(pod["spec"].get("nodeName")) for pod in pods if pod["spec"].get("hostNetwork")}
    if holder.rpartition("_")[0] in hosts:
        return ""
    metadata, lasts = lease["metadata"], int(spec.get("leaseDurationSeconds") or 0)
    said = f"it stands by: the lease {metadata['namespace']}/{metadata['name']} is held by {holder}, none of its Pods"
    renewed = spec.get("renewTime")
    if not renewed:
        return said
    age = ((now or datetime.now(UTC)) - datetime.fromisoformat(renewed)).total_seconds()
    return f"{said}, which renewed it {age:.0f} s ago; it lasts {lasts} s"
