"""Is this machine fit? One table of checks, each a few lines over the facts of :mod:`schedproof.host.sight`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from schedproof.errors import HarnessError
from schedproof.host import engine_checks, machine_checks, program_checks
from schedproof.host.finding import Finding, State, bad, warning
from schedproof.host.machine import Machine
from schedproof.host.sight import Sight, look, side_by_side
from schedproof.progress import progress
from schedproof.settings import Settings

ALL = 2.5
"""Seconds for all checks together, after the first facts (2 s): below 5 s in all, whatever hangs."""

Part = Literal["always", "own cluster"]


@dataclass(frozen=True)
class Check:
    """What one check found.

    Attributes:
        name: Of the check.
        state: ok; mended (it was wrong, now it is right); warning (it may go wrong); bad (it will go wrong).
        seen: What was seen, one line.
        cure: What to do, one line; empty when nothing has to be done.
    """

    name: str
    state: State
    seen: str
    cure: str = ""


CHECKS: tuple[tuple[str, Part, Callable[[Sight], Finding]], ...] = (
    ("engine", "own cluster", engine_checks.answers),
    ("privileges", "own cluster", engine_checks.privileged_containers),
    ("user", "own cluster", engine_checks.user),
    ("image store", "own cluster", engine_checks.image_store),
    ("cgroups", "own cluster", engine_checks.cgroups),
    ("registry", "own cluster", engine_checks.registry),
    ("left-overs", "own cluster", engine_checks.leftovers),
    ("kind", "own cluster", program_checks.kind),
    ("go", "always", program_checks.go),
    ("python", "always", program_checks.python),
    ("architecture", "always", machine_checks.architecture),
    ("cpus", "always", machine_checks.cpus),
    ("memory", "own cluster", machine_checks.memory),
    ("disk (engine)", "own cluster", machine_checks.engine_disk),
    ("disk (cache)", "always", machine_checks.cache_disk),
    ("inotify", "own cluster", machine_checks.inotify),
    ("proxies", "always", machine_checks.proxies),
    ("swap", "own cluster", machine_checks.swap),
)
"""Name, when it counts, and who judges. ``own cluster``: only when we make the cluster (no EXISTING_KUBECONFIG)."""


def check_host(settings: Settings, machine: Machine | None = None, *, mend: bool = True) -> list[Check]:
    """Return what every check found, within 5 s. With ``mend``, root's limits that are too small are raised."""
    return judge(look(settings, machine or Machine(), mend=mend))


def judge(sight: Sight) -> list[Check]:
    """Return what every check that counts finds in these facts; they run side by side."""
    counting = [
        (name, check) for name, part, check in CHECKS if part == "always" or not sight.settings.existing_kubeconfig
    ]
    found = side_by_side({name: partial(_found, check, sight) for name, check in counting}, ALL)
    late = warning(f"no answer within {ALL} s", "the machine is very busy, or a program hangs")
    return [Check(name, *(found[name] or late)) for name, _ in counting]


def _found(check: Callable[[Sight], Finding], sight: Sight) -> Finding:
    try:
        return check(sight)
    except HarnessError as error:
        # A check that stumbles (the engine ended meanwhile, a folder cannot be made) has found something.
        return bad(f"{error.message.expected}: {error.message.seen or 'no'}".replace("\n", " "), error.message.cure)


def require_host(settings: Settings, machine: Machine | None = None) -> list[Check]:
    """Check the machine before anything is made, mend what can be mended, and say what may go wrong.

    Raises:
        HarnessError: Something is bad that cannot be mended; the message has every such finding with its cure.
    """
    checks = check_host(settings, machine)
    bad = [check for check in checks if check.state == "bad"]
    if bad:
        raise HarnessError(
            "this machine is fit for kind clusters",
            seen="\n".join(f"{check.name}: {check.seen}" for check in bad),
            cure="\n".join(dict.fromkeys(check.cure for check in bad)),
        )
    for check in checks:
        # About an engine that has to be started or installed ensure_engine itself speaks next.
        if check.state in ("mended", "warning") and check.name != "engine":
            cure = f"; {check.cure}" if check.cure else ""
            progress.line(f"  {check.name} ({check.state}): {check.seen}{cure}")
    return checks
