"""Mutants of test_scheduler_faults.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.mutants import mutant
from schedproof.pods import Pod
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World

DEPLOYMENT, REPLICA_SET = "apps/v1/Deployment", "apps/v1/ReplicaSet"


@mutant(
    claim="scheduler-taken-away",
    input="world",
    fault="a GitOps controller scales the scheduler up again as soon as it was scaled down",
    expect="waiting stays Pending * it is bound to * my-scheduler-* binds it to",
)
def scaled_up_again(world: World) -> None:
    downs: list[Deployment] = []

    def scale_up(pod: Pod) -> None:
        if pod.name == "waiting":
            # Not by its method, which would tell us in turn.
            one = downs[0]
            world.api.patch(DEPLOYMENT, one.deployment, {"spec": {"replicas": 1}}, one.namespace)
            pod.wait_until_bound()

    world.after("scale", downs.append)
    world.after("apply", scale_up)


@mutant(
    claim="scheduler-taken-away",
    input="world",
    fault="whoever takes the scheduler away clears the pods that it had bound, too",
    expect="pod old still exists",
)
def old_pods_cleared(world: World) -> None:
    old: list[Pod] = []
    world.after("apply", old.append)
    world.after("scale", lambda _: old[0].delete(grace=0))


@mutant(
    claim="scheduler-killed",
    input="world",
    fault="a bare Pod instead of a Deployment: nobody makes another one",
    expect="another Pod in place of the killed one",
)
def bare_pod(world: World) -> None:
    def orphan(scheduler: Deployment) -> None:
        sets, _ = world.api.list(REPLICA_SET, scheduler.namespace, labels=scheduler.selector)
        world.api.delete(DEPLOYMENT, scheduler.deployment, scheduler.namespace, propagation="Orphan")
        for one in sets:
            world.api.delete(REPLICA_SET, one["metadata"]["name"], scheduler.namespace, propagation="Orphan")

    world.after("ready", orphan)


@mutant(
    claim="scheduler-killed",
    input="world",
    fault="R1: its rights are taken away while it is replaced: the new Pod runs and binds nothing",
    expect="the API server refuses it: it may not",
)
def rights_taken_away(world: World) -> None:
    def take(scheduler: Deployment) -> None:
        for obj in scheduler.objects:
            if obj["kind"] == "ClusterRoleBinding":
                world.api.delete("ClusterRoleBinding", obj["metadata"]["name"])

    world.after("kill", take)
