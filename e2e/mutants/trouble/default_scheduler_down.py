"""Mutants of test_default_scheduler_down.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.mutants import mutant

if TYPE_CHECKING:
    from fixtures.world import World
    from schedproof.pods import Pod


@mutant(
    claim="default-scheduler-down",
    input="world",
    fault="an operator binds the waiting pods by hand while the default scheduler is away",
    expect="no-annotation stays Pending * it is bound to",
)
def bound_by_hand(world: World) -> None:
    def bind(pod: Pod) -> None:
        if pod.scheduler == "default-scheduler":
            world.api.bind(pod.current(), (world.facts.workers or world.facts.control_planes)[0])
            pod.wait_until_bound()

    world.after("apply", bind)
