"""Mutants of test_service.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant

if TYPE_CHECKING:
    from fixtures.world import World
    from schedproof.shapes.service import Service


@mutant(
    claim="service-binds",
    input="unit",
    fault="the document's doubled backslash: systemd does not join the lines, and --config never reaches the program",
    expect="its /readyz says ok",
)
def doubled_backslash(unit: str) -> str:
    return unit.replace("\\\n", "\\\\\n")


@mutant(
    claim="service-binds",
    input="scheduler",
    fault="C3: the configuration file does not say which kubeconfig to use",
    expect="its /readyz says ok * it knows no API server",
)
def no_kubeconfig(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content.pop("clientConnection")
    return bundle.with_config(objects, content)


@mutant(
    claim="service-faults",
    input="unit",
    fault="the document's unit has no Restart=: the first crash of the scheduler is its last",
    expect="its /readyz says ok * is failed: nobody runs it",
)
def without_restart(unit: str) -> str:
    return "\n".join(line for line in unit.splitlines() if not line.startswith("Restart")) + "\n"


@mutant(
    claim="service-faults",
    input="world",
    fault="whoever maintains the node starts the service again",
    expect="second stays Pending * it is bound to",
)
def started_again(world: World) -> None:
    def start(service: Service) -> None:
        with service.unheard():
            service.start()
            service.wait_until_ready()

    world.after("stop", start)
