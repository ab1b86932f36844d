"""``schedproof clean``: list what schedproof made on this machine, and remove it."""

from __future__ import annotations

import argparse

from rich.console import Console

from schedproof.cluster import clean as made
from schedproof.errors import ExitCode, HarnessError
from schedproof.host import engine
from schedproof.host.machine import Machine
from schedproof.host.recipe import DATA


def clean(arguments: argparse.Namespace) -> int:
    """List and remove clusters, kind's network, images, caches, state, and the engine if we installed it.

    ``--list`` removes nothing; ``--clusters`` leaves all but clusters and network alone.
    """
    console = Console(highlight=False, soft_wrap=True)
    items = [item for item in made.items() if not arguments.clusters or item.kind in ("cluster", "network")]
    engines = [] if arguments.clusters else engine.ours()
    for item in items:
        console.print(f"{item.kind:<8} {item.name}  {item.size}".rstrip(), markup=False)
    for line in engines:
        console.print(f"{'engine':<8} {line}", markup=False)
    if not items and not engines:
        console.print("nothing of schedproof's is here")
    if arguments.list:
        return ExitCode.PROVED
    faults = made.remove([item for item in items if item.kind != "folder"])
    if engines:
        try:
            engine.remove_ours()
            if not Machine().path(DATA).exists():
                # It may have been down, so that its clusters could neither be listed nor removed by themselves.
                made.forget()
        except HarnessError as error:
            faults.append(str(error))
    # The state folder last: it is what the removals above go by.
    faults += made.remove([item for item in items if item.kind == "folder"])
    for fault in faults:
        console.print(f"! {fault}", markup=False)
    return ExitCode.HARNESS if faults else ExitCode.PROVED
