"""Mutants of test_default_lease.py."""

from __future__ import annotations

from typing import Any

from schedproof.mutants import mutant


@mutant(
    claim="default-lease-taken-over",
    input="election",
    fault="what the cure says: no election at all; then it neither stands by nor takes anything over",
    expect="stays Pending * it is bound to",
)
def no_election(election: dict[str, Any]) -> None:
    election["leaderElect"] = False
