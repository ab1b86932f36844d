"""Mutants of test_daemonset.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.mutants import mutant
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="daemonset-waits",
    input="daemonset",
    fault="its template names no scheduler, so the default one binds the pods",
    expect="stays Pending * it is bound to",
)
def bound_by_default(daemonset: Object) -> None:
    del daemonset["spec"]["template"]["spec"]["schedulerName"]


@mutant(
    claim="daemonset-waits",
    input="world",
    fault="R1: the scheduler that comes back has lost its rights",
    expect="1 of 1 pods Ready * the API server refuses it: it may not list",
)
def back_without_rights(world: World) -> None:
    def take(scheduler: Deployment) -> None:
        for obj in scheduler.objects:
            if obj["kind"] == "ClusterRoleBinding":
                world.api.delete("ClusterRoleBinding", obj["metadata"]["name"])

    world.after("ready", take)
