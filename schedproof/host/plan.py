"""What a run would do to this machine, for ``PLAN=1``: lines of text; nothing is done."""

from __future__ import annotations

from schedproof.errors import EngineError
from schedproof.host.docker import EngineUnreachable
from schedproof.host.engine import way
from schedproof.host.machine import Machine
from schedproof.host.machine_checks import small_limits
from schedproof.host.probe import unfit
from schedproof.host.sight import Sight, look
from schedproof.settings import Settings


def lines(settings: Settings, machine: Machine | None = None) -> list[str]:
    """Return what would be installed, started and changed, one line each, and whether things are pulled or built."""
    return of(look(settings, machine or Machine()))


def of(sight: Sight) -> list[str]:
    """Return the same from facts that were gathered before."""
    if sight.settings.existing_kubeconfig:
        return ["host: nothing is installed, started or changed (the cluster is another's)"]
    return [*_engine(sight), *_limits(sight), _origin(sight)]


def _engine(sight: Sight) -> list[str]:
    if sight.engine is not None:
        if why := unfit(sight.engine, sight.machine):
            return [f"engine: the run would stop: {why}"]
        return [f"engine: Docker {sight.engine.version} answers and is used as it is"]
    try:
        if not isinstance(sight.trouble, EngineUnreachable):
            raise sight.trouble or EngineError("a container engine answers")
        chosen = way(sight.trouble, sight.machine)
    except EngineError as error:
        return [f"engine: the run would stop: {error.message.seen or error.message.expected}; {error.message.cure}"]
    if sight.settings.bootstrap == "0" or not sight.machine.is_root:
        why = "BOOTSTRAP=0 forbids it" if sight.settings.bootstrap == "0" else "this is not root"
        return [
            f"engine: none answers, and the run would stop: {why}. Allowed, it would do this:",
            *_indented(chosen.lines()),
        ]
    asked = " (asks first on a terminal)" if sight.settings.bootstrap == "ask" else ""
    return [f"engine: none answers; the run{asked}:", *_indented(chosen.lines())]


def _indented(told: list[str]) -> list[str]:
    return [f"  - {line}" for line in told]


def _limits(sight: Sight) -> list[str]:
    small = small_limits(sight)
    if sight.machine.is_root:
        return [
            f"kernel: fs.inotify.{name} is raised from {now} to {least} until the next boot"
            for name, now, least in small
        ]
    return [
        f"kernel: fs.inotify.{name} is {now}, {least} are wanted; only root can raise it" for name, now, least in small
    ]


def _origin(sight: Sight) -> str:
    if sight.builds:
        return "origin: programs and images are built from source (about 25 minutes on 2 cores the first time)"
    if sight.warm:
        return "origin: node image and scheduler of an earlier run are here"
    return "origin: programs and images are downloaded"
