"""The container engine: the one that answers; where none does, one that is started or installed after saying so."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass

from schedproof import folders
from schedproof.errors import EngineError
from schedproof.host import daemon
from schedproof.host.daemon import remove_stale
from schedproof.host.docker import EngineUnreachable
from schedproof.host.machine import Machine
from schedproof.host.ours import ours, remove_ours, stop_ours
from schedproof.host.probe import LOCAL_SOCKETS, Engine, endpoint, fit, probe
from schedproof.host.recipe import BY_HAND, Recipe, install, recipe
from schedproof.progress import progress
from schedproof.settings import Settings

__all__ = ["Engine", "Way", "ensure_engine", "ours", "remove_ours", "remove_stale", "stop_ours", "way"]

Ask = Callable[[str], bool]
"""Asks the user a question; True is yes."""


@dataclass(frozen=True)
class Way:
    """What stands between this machine and an engine that answers.

    Attributes:
        install: How it is installed; None when it is there and only has to be started.
        systemd: Whether its systemd unit is started; otherwise dockerd as a process of its own.
        program: Where dockerd is; empty when it is not there yet.
    """

    install: Recipe | None
    systemd: bool
    program: str = ""

    def lines(self) -> list[str]:
        """Return what the user is told beforehand."""
        told = self.install.lines() if self.install else []
        if self.systemd:
            told.append("starts it: systemctl start docker")
        else:
            told.append(f"starts {self.program or 'dockerd'} as a process of its own, log in {daemon.log_file()}")
        return [*told, "its images and containers will be in /var/lib/docker; `make clean` undoes all this"]


def ensure_engine(settings: Settings, machine: Machine | None = None, ask: Ask | None = None) -> Engine:
    """Return an engine that answers; one that does is used as it is, and only asked.

    Args:
        settings: ``bootstrap`` says whether one may be started or installed.
        machine: Facts about this machine, by default this one's.
        ask: Asks the user, by default on the terminal when there is one.

    Raises:
        EngineError: None answers, and none may or can be started; the message says what to do by hand.
    """
    here = machine or Machine()
    try:
        return fit(probe(), here)
    except EngineUnreachable:
        # Two runs at once must not both install one: the second finds what the first one started.
        with folders.lock("engine"):
            try:
                return fit(probe(), here)
            except EngineUnreachable as trouble:
                return _bring_up(settings, here, ask or _terminal(), trouble)


def way(trouble: EngineUnreachable, machine: Machine) -> Way:
    """Return how an engine would be brought up here; nothing is touched.

    Raises:
        EngineError: There is no way that schedproof may or can go.
    """
    if trouble.why in ("denied", "silent"):
        raise trouble
    if trouble.why == "down" and (place := endpoint()) not in LOCAL_SOCKETS:
        raise EngineError(
            f"the engine at {place} answers",
            seen=trouble.seen,
            cause="the docker command line is set up for that engine (DOCKER_HOST, or `docker context`)",
            cure="start that engine; or unset DOCKER_HOST and `docker context use default` for one of this machine",
        )
    if machine.system != "Linux":
        raise EngineError("a container engine answers", seen=trouble.seen, cure="start Docker Desktop, then run again")
    program = machine.which("dockerd")
    if program is None:
        return Way(recipe(machine), machine.systemd)
    if trouble.why == "no program":
        raise EngineError(
            "the docker command line is installed beside dockerd",
            seen=f"{program} is here, docker is not on PATH",
            cure="install docker-cli, or put docker on PATH",
        )
    return Way(None, machine.systemd, program)


def _bring_up(settings: Settings, machine: Machine, ask: Ask | None, trouble: EngineUnreachable) -> Engine:
    chosen = way(trouble, machine)
    by_hand = BY_HAND if chosen.install else "start it by hand (systemctl start docker, or dockerd), then run again"
    if settings.bootstrap == "0":
        raise _not_allowed(chosen, "BOOTSTRAP=0 forbids to install or start one", by_hand + "; or leave BOOTSTRAP out")
    if not machine.is_root:
        raise _not_allowed(chosen, "it takes root to install or start one", f"{by_hand}; or run this as root once")
    what = "installs and starts" if chosen.install else "starts"
    progress.line(f"No container engine answers on this machine. schedproof {what} one (BOOTSTRAP=0 forbids it):")
    for line in chosen.lines():
        progress.line(f"  - {line}")
    if settings.bootstrap == "ask" and ask is not None and not ask("Go on? [y/N] "):
        raise _not_allowed(chosen, "the answer was no", by_hand)
    if chosen.install:
        install(chosen.install, machine)
        with contextlib.suppress(EngineUnreachable):
            # Some packages start their daemon themselves.
            return fit(probe(), machine)
    return fit(daemon.start(machine), machine)


def _not_allowed(chosen: Way, why: str, cure: str) -> EngineError:
    seen = "none is installed" if chosen.install else f"{chosen.program} is installed and does not run"
    return EngineError("a container engine (Docker) answers", seen=seen, cause=why, cure=cure)


def _terminal() -> Ask | None:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None

    def ask(question: str) -> bool:
        try:
            return progress.console.input(question, markup=False).strip().lower() in ("y", "yes")
        except EOFError:
            return False

    return ask
