"""Mutants of test_rights.py: a right that is not taken away, another fault in its place, a table that is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.deploy.rights import Right
from schedproof.mutants import mutant
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="rights-to-start",
    input="removed",
    fault="the rights are granted after all, by an aggregated role or a second binding",
    expect="stays Pending * it is bound to",
)
def granted_after_all(_: list[str]) -> list[str]:
    return []


@mutant(
    claim="rights-to-start",
    input="removed",
    fault="another fault with the same symptom: a second list is forbidden as well, so the one is not the cause",
    expect="trouble is named (read *) * named is another: * it may not list",
)
def another_list_forbidden(removed: list[str]) -> list[str]:
    return [*removed, "read nodes", "read pods"]


@mutant(
    claim="rights-to-work",
    input="removed",
    fault="the rights are granted after all, by an aggregated role or a second binding",
    expect="it does all the same:",
)
def nothing_removed(_: list[str]) -> list[str]:
    return []


@mutant(
    claim="rights-to-work",
    input="removed",
    fault="with each right its right to bind is taken away",
    expect="it does not: binds a pod * it may not * create pods/binding",
)
def binding_removed_too(removed: list[str]) -> list[str]:
    return [*removed, "write pods/binding"]


@mutant(
    claim="rights-not-needed",
    input="removed",
    fault="the table calls a right unneeded that is needed: the one to update claims of volumes",
    expect="it does not: chooses the node of a volume * it may not update persistentvolumeclaims",
)
def needed_after_all(removed: list[str]) -> list[str]:
    return [*removed, "write persistentvolumeclaims"]


@mutant(
    claim="rights-not-needed",
    input="granted",
    fault="R5: a newer Kubernetes grants a right that the table does not know",
    expect="it does not know: read podgroups.scheduling.k8s.io",
)
def newer_kubernetes(granted: list[Right]) -> list[Right]:
    return [*granted, Right("scheduling.k8s.io", "podgroups", "", writes=False, verbs=("list", "watch"))]


@mutant(
    claim="rights-not-needed",
    input="world",
    fault="its role is overwritten with the old page's three rules right after it was deployed",
    expect="it does not: binds a pod",
)
def role_overwritten(world: World) -> None:
    def overwrite(scheduler: Deployment) -> None:
        role = next(obj for obj in scheduler.objects if obj["kind"] == "ClusterRole")
        world.api.apply({**role, "rules": role["rules"][:3]})

    world.after("deploy", overwrite)
