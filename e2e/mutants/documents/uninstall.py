"""Mutants of test_uninstall.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from schedproof.deploy.rival import forgotten_copy
from schedproof.mutants import mutant
from schedproof.pods import Pod
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="uninstalled",
    input="world",
    fault="a GitOps controller puts the scheduler back",
    expect="nothing is left of scheduler my-scheduler-* still there: * Deployment/",
)
def put_back(world: World) -> Iterator[None]:
    gone: list[Deployment] = []

    def put(scheduler: Deployment) -> None:
        gone.append(scheduler)
        with scheduler.unheard():
            scheduler.deploy()

    world.after("uninstall", put)
    yield
    for scheduler in gone:
        with scheduler.unheard():
            scheduler.uninstall()


@mutant(
    claim="uninstalled",
    input="world",
    fault="N5: a second installation of the scheduler was forgotten and serves the name on",
    expect="stays Pending * it is bound to * -rival * binds it to",
)
def forgotten_installation(world: World) -> Iterator[None]:
    with ExitStack() as stack:

        def install(scheduler: Deployment) -> None:
            stack.enter_context(forgotten_copy(world.api, world.facts, scheduler.name))

        world.after("uninstall", install)
        world.after("apply", lambda pod: pod.scheduler.startswith("my-scheduler") and pod.wait_until_bound())
        yield


@mutant(
    claim="uninstalled",
    input="world",
    fault="whoever uninstalls it removes the pods with the example's label, too",
    expect="pod no-annotation still exists",
)
def pods_swept_away(world: World) -> None:
    pods: list[Pod] = []

    def sweep(_: Deployment) -> None:
        for pod in pods:
            pod.delete(grace=0)

    world.after("apply", pods.append)
    world.after("uninstall", sweep)
