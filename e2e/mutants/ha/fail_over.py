"""Mutants of test_fail_over.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant

if TYPE_CHECKING:
    from fixtures.world import World
    from schedproof.pods import Pod
    from schedproof.shapes.deployment import Deployment


@mutant(
    claim="leader-hands-over",
    input="scheduler",
    fault="a preStop hook that waits: the leader hears of its end late, and leads and goes on until then",
    expect="another leads between 0.0 and 2.2 s after the leader went",
)
def slow_to_end(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["lifecycle"] = {"preStop": {"sleep": {"seconds": 8}}}


@mutant(
    claim="leader-crashes",
    input="world",
    fault="a clean-up job removes leases of pods that crash: the next one leads while the old one may still bind",
    expect="another leads between 4.0 and 9.4 s after the leader went",
)
def lease_removed(world: World) -> None:
    def remove(scheduler: Deployment) -> None:
        assert scheduler.lease is not None
        world.api.delete("coordination.k8s.io/v1/Lease", scheduler.lease.name, scheduler.lease.namespace)

    world.after("kill", remove)


@mutant(
    claim="leader-freezes",
    input="world",
    fault="an operator binds a pod by hand while the leader is frozen",
    expect="pod waiting0 is bound once, by a replica of",
)
def bound_by_hand(world: World) -> None:
    def bind(pod: Pod) -> None:
        if pod.name == "waiting0":
            world.api.bind(pod.current(), (world.facts.workers or world.facts.control_planes)[0])

    world.after("apply", bind)
