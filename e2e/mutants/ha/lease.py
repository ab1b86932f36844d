"""Mutants of test_lease.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.mutants import mutant


@mutant(
    claim="lease-by-editing-the-role",
    input="allowed",
    fault="L3, A-39: the role is edited for the scheduler's name, as the first document prints it, not for the lease's",
    expect="pod annotation-second-scheduler is bound * leases",
)
def name_of_the_scheduler(lease: str) -> str:
    return lease.removeprefix("lock-object-")


@mutant(
    claim="one-of-three-leads",
    input="scheduler",
    fault="L3: the Role for the lease is there and nobody bound it: three stand by, and nobody leads",
    expect="pod pod0 is bound * leases",
)
def lease_role_not_bound(objects: list[Object]) -> list[Object]:
    return [obj for obj in objects if not (obj["kind"] == "RoleBinding" and obj["metadata"]["name"].endswith("-lease"))]
