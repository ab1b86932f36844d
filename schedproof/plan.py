"""``PLAN=1``: what a run would make, touch and cost, and nothing done. Only looks, and asks the engine what it has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from schedproof import folders, programs
from schedproof.cluster import owner
from schedproof.errors import SchedproofError
from schedproof.host import plan as host_plan
from schedproof.images import engine, node_build
from schedproof.images.node import KIND_PINNED
from schedproof.programs import cache
from schedproof.programs.table import lookup
from schedproof.settings import DEFAULT_KUBERNETES, Settings, worker_count

DOWNLOADED = "about 2 min and 2 GB where images can be pulled"
BUILT = "else built: about 15 min on 2 cores, 15 GB of disk meanwhile, 3 GB afterwards"
"""Costs as measured on 2 cores; README, "What it costs"."""


@dataclass(frozen=True)
class Line:
    """One thing that a run would do.

    Attributes:
        verb: ``make``, ``touch``, ``use`` or ``cost``.
        what: The thing, in words.
    """

    verb: str
    what: str


def lines(settings: Settings) -> Iterator[Line]:
    """Yield the plan of a run with these settings, in the order in which it would happen."""
    if settings.existing_kubeconfig:
        yield Line(
            "use", f"the cluster of {settings.existing_kubeconfig}; namespaces, a scheduler and its bindings there"
        )
        return
    yield from (Line("touch", text) for text in host_plan.lines(settings))
    answers = _engine_answers()
    yield from _node_image(settings, answers=answers)
    yield from _programs(settings)
    yield Line("make", f"the image of {_scheduler(settings)}, with busybox as its base")
    yield from _cluster(settings)
    yield Line("make", f"results and evidence in {Path('artifacts').absolute()}")
    yield Line("touch", f"{folders.cache()} (programs) and {folders.state()} (who owns which cluster); not ~/.kube")
    yield Line(
        "cost", f"the claims: about a minute with {worker_count(settings)} side by side; a new cluster: half a minute"
    )
    left = "the cluster, " if settings.keep else ""
    yield Line(
        "cost", f"left afterwards: {left}the engine's images, kind's network and the caches; `make clean` removes them"
    )


def show(settings: Settings) -> None:
    """Print the plan."""
    console = Console(highlight=False, soft_wrap=True)
    console.print("plan (nothing is done):")
    for line in lines(settings):
        console.print(f"  {line.verb:<6} {line.what}", markup=False)


def _engine_answers() -> bool:
    try:
        engine.exists(KIND_PINNED)
    except SchedproofError:
        return False
    return True


def _node_image(settings: Settings, *, answers: bool) -> Iterator[Line]:
    ours = node_build.tag(settings.kubernetes_version or DEFAULT_KUBERNETES)
    wanted = settings.node_image or KIND_PINNED.partition("@")[0]
    there = next(
        (image for image in (settings.node_image, KIND_PINNED, ours) if image and answers and engine.exists(image)), ""
    )
    if there:
        yield Line("use", f"the node image {there.partition('@')[0]}, which is in the engine")
    else:
        yield Line("make", f"the node image: {wanted} pulled; where that fails {ours} built")
        yield Line("cost", f"{DOWNLOADED}; {BUILT}")


def _programs(settings: Settings) -> Iterator[Line]:
    version = settings.kubernetes_version or DEFAULT_KUBERNETES
    for name, wanted in (("kind", programs.kind_version()), ("kubectl", version)):
        program = lookup(name)
        path = cache.shelf(program.family.name, wanted) / name
        state = "from the cache" if isinstance(cache.found(path), Path) else " or ".join(program.sources)
        yield Line("use", f"{name} {wanted}: {state}")


def _scheduler(settings: Settings) -> str:
    given = settings.scheduler_image or settings.scheduler_dockerfile or settings.scheduler_binary
    return given or f"kube-scheduler {settings.scheduler_version or 'of the version of the cluster'}"


def _cluster(settings: Settings) -> Iterator[Line]:
    kept = [record.name for record in owner.records() if record.keep and record.phase == "ready"]
    if kept and settings.keep:
        yield Line(
            "use", f"the kept cluster {', '.join(kept)} if node image and configuration are the same, else a new one"
        )
    else:
        nodes = "one control plane and two workers" if settings.nodes > 1 else "one node"
        yield Line("make", f"a kind cluster {owner.PREFIX}..., {nodes}, about 1 GB of memory, removed at the end")
