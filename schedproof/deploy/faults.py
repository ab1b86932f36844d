"""Faults of a bundle that mutants of more than one claim stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedproof.deploy import bundle

if TYPE_CHECKING:
    from schedproof.api import Object


def without_volume_scheduler(objects: Sequence[Object]) -> list[Object]:
    """Return the bundle without its binding to ``system:volume-scheduler``, and with the documents' probe on /healthz.

    That probe is green although the scheduler may not list what it waits for (cases R1 and E5).
    """
    workload = bundle.workload(objects)
    assert workload is not None  # noqa: S101 - a mutant of a bundle without a workload would prove nothing
    bundle.containers(workload)[0]["readinessProbe"]["httpGet"]["path"] = "/healthz"
    return [obj for obj in objects if (obj.get("roleRef") or {}).get("name") != "system:volume-scheduler"]
