"""What the checks judge: facts gathered side by side, each within a bound, so that a hanging engine holds nobody up."""

from __future__ import annotations

import multiprocessing
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TypeVar

from schedproof.errors import EngineError
from schedproof.host.docker import EngineUnreachable, docker
from schedproof.host.machine import Machine
from schedproof.host.probe import Engine, probe
from schedproof.settings import DEFAULT_KUBERNETES, Settings

T = TypeVar("T")

ANSWER = 2.0
"""Seconds for the first facts: an engine answers within 0.1, a registry behind a slow line within 1."""

REGISTRY = ("registry-1.docker.io", 443)
"""Where kind's node images and busybox are pulled from, unless the engine has a mirror or a proxy."""


@dataclass(frozen=True)
class Sight:
    """The facts.

    Attributes:
        settings: Of the run.
        machine: This one.
        mend: Whether a check may change the machine (raise a limit).
        engine: The engine that answered.
        trouble: Why none did.
        registry: Whether the image registry can be reached; None where the engine pulls through a mirror or a proxy.
        warm: Whether an earlier run left a node image and a kube-scheduler that will do; where no
            engine can be asked, the scheduler alone decides.
    """

    settings: Settings
    machine: Machine
    mend: bool = False
    engine: Engine | None = None
    trouble: EngineError | None = None
    registry: bool | None = None
    warm: bool = False

    @property
    def builds(self) -> bool:
        """Whether programs and images will be built from source (25 minutes) instead of pulled."""
        forced = set(self.settings.providers.values())
        return bool(forced & {"build", "module"}) or (self.registry is False and not self.warm)


def look(settings: Settings, machine: Machine, *, mend: bool = False) -> Sight:
    """Gather the facts; what does not come within :data:`ANSWER` counts as no."""
    seconds = ANSWER
    seen = side_by_side(
        {"engine": lambda: _engine(settings, seconds), "registry": lambda: _reachable(seconds)}, seconds
    )
    silent = EngineUnreachable("silent", f"no answer within {seconds:.0f} s"), _scheduler_is_here(settings)
    engine, warm = seen["engine"] if isinstance(seen["engine"], tuple) else silent
    reachable: bool | None = bool(seen["registry"])
    if isinstance(engine, EngineError):
        return Sight(settings, machine, mend, trouble=engine, registry=reachable, warm=warm)
    if not reachable and engine.mirrors:
        reachable = None
    return Sight(settings, machine, mend, engine=engine, registry=reachable, warm=warm)


def side_by_side(jobs: Mapping[str, Callable[[], T]], seconds: float) -> dict[str, T | None]:
    """Run the jobs in threads and return what each gave; None for one that took longer than ``seconds``.

    Threads of this pool never keep the process from ending, unlike those of ``concurrent.futures``.
    """
    until = time.monotonic() + seconds
    with ThreadPool(max(1, len(jobs))) as pool:
        under_way = {name: pool.apply_async(job) for name, job in jobs.items()}
        given: dict[str, T | None] = {}
        for name, answer in under_way.items():
            try:
                given[name] = answer.get(max(0.0, until - time.monotonic()))
            except multiprocessing.TimeoutError:
                given[name] = None
        return given


def _engine(settings: Settings, seconds: float) -> tuple[Engine | EngineError, bool]:
    try:
        engine = probe(seconds)
        return engine, _scheduler_is_here(settings) and _node_image_is_here(settings)
    except EngineError as error:
        return error, _scheduler_is_here(settings)


def _node_image_is_here(settings: Settings) -> bool:
    from schedproof.images.node import KIND_PINNED
    from schedproof.images.node_build import tag

    images = [settings.node_image, KIND_PINNED, tag(settings.kubernetes_version or DEFAULT_KUBERNETES)]
    # It complains about those that are not there and prints those that are.
    asked = docker("image", "inspect", "--format", "{{.Id}}", *(image for image in images if image), check=False)
    return bool(asked.stdout.strip())


def _scheduler_is_here(settings: Settings) -> bool:
    from schedproof.programs.cache import shelf
    from schedproof.programs.table import KUBERNETES

    if settings.scheduler_image or settings.scheduler_binary or settings.scheduler_dockerfile:
        return True
    version = settings.scheduler_version or settings.kubernetes_version or DEFAULT_KUBERNETES
    return (shelf(KUBERNETES.name, version) / "kube-scheduler").exists()


def _reachable(seconds: float) -> bool:
    try:
        socket.create_connection(REGISTRY, timeout=seconds).close()
    except OSError:
        return False
    return True


def cache_folder() -> Path:
    """Return where programs and build caches will be."""
    from schedproof import folders

    return folders.cache()
