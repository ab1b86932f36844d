"""What ``make e2e`` costs: cold, warm, on a kept cluster; and the share of the time that was spent waiting for nothing.

``Waiting for nothing`` has two parts. *Between*: wall time, from the start of the command to its end, in which neither
a step (of preparation or removal, as the progress lines tell) nor a phase of a claim was under way: start of the
interpreter, collection, start of the workers. *Idle*: from the first claim's begin to the last one's end, the time in
which a worker had no claim to run, as a mean over the workers.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import figures, intervals
from bench.contenders import schedproof
from schedproof import folders
from schedproof.cluster import clean, owner
from schedproof.command import run
from schedproof.data import CHECKOUT
from schedproof.errors import HarnessError
from schedproof.progress import progress

TARGETS = {"cold": 25 * 60.0, "warm": 3 * 60.0, "kept": 45.0}
"""Seconds that the issue allows on 2 cores."""

_END_OF_STEP = re.compile(r"^[+!] .* \((?:done|failed), ([\d.]+) s\)$")


def warm_and_kept() -> dict[str, Any]:
    """Return what a run costs with programs and images there: on a new cluster, and on one that an earlier run kept.

    A kept cluster that was there before stays; one that this makes is removed.
    """
    found = {"warm": _run("warm", keep=False)}
    before = {record.name for record in owner.records()}
    made: set[str] = set()
    try:
        if not any(record.keep for record in owner.records()):
            _run("kept, first run", keep=True)
            made = {record.name for record in owner.records()} - before
        found["kept"] = _run("kept", keep=True)
    finally:
        for item in clean.items():
            if item.kind == "cluster" and item.name in made:
                item.remove()
    return found


def cold(*, yes: bool) -> dict[str, Any]:
    """Remove everything that schedproof has made on this machine, caches included, and return what a run costs then.

    Raises:
        HarnessError: ``yes`` was not given.
    """
    items = "\n".join(f"{item.kind} {item.name} {item.size}".rstrip() for item in clean.items())
    if not yes:
        raise HarnessError(
            "a cold run begins with nothing cached",
            seen=f"this would be removed:\n{items}",
            cure="python -m bench cold --yes",
        )
    with progress.step("removing what schedproof made (schedproof clean)"):
        run([CHECKOUT / ".venv" / "bin" / "python", "-m", "schedproof", "clean"], seconds=600, cwd=CHECKOUT)
    if left := [str(path) for path in (folders.cache() / "programs", folders.cache() / "go") if path.exists()]:
        raise HarnessError("nothing is cached", seen=f"still there: {', '.join(left)}", cure="remove it")
    return {"cold": _run("cold", keep=False), "removed": items.splitlines()}


def show(found: dict[str, Any]) -> str:
    """Return the costs as a table."""
    rows = [
        [
            name, f"{one['wall_seconds']:.1f}", f"{TARGETS[name]:.0f}", f"{one['prepare_seconds']:.1f}",
            f"{one['claims_seconds']:.1f}", f"{one['waiting_for_nothing_share']:.0%}",
            f"{one['green']}/{one['claims']}",
        ]
        for name, one in found.items() if name in TARGETS
    ]  # fmt: skip
    heading = ["make e2e", "s", "target", "prepare", "claims", "waiting for nothing", "green"]
    return figures.table(heading, rows)


def _run(name: str, *, keep: bool) -> dict[str, Any]:
    heard: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory(prefix="schedproof-bench-") as folder, progress.step(f"make e2e, {name}"):
        path = Path(folder) / "intervals.json"
        variables = {"KEEP": "1" if keep else "0", intervals.VARIABLE: str(path)}
        outcome, found = schedproof(["e2e", "--suite", "documents", "--", "-p", "bench.intervals"], variables, heard)
        claims = [(float(begin), float(end)) for begin, end in json.loads(path.read_text(encoding="utf-8"))]
    between, idle = waiting_for_nothing(outcome.seconds, steps(heard), claims, found.workers)
    return {
        "wall_seconds": round(outcome.seconds, 2),
        "prepare_seconds": round(found.prepare_seconds, 2),
        "claims_seconds": round(found.claims_seconds, 2),
        "between_seconds": round(between, 2),
        "idle_seconds": round(idle, 2),
        "waiting_for_nothing_share": round((between + idle) / outcome.seconds, 4),
        "claims_waited_seconds": round(sum(result.waited for result in found.results), 2),
        "claims_summed_seconds": round(sum(result.seconds for result in found.results), 2),
        "workers": found.workers,
        "claims": len(found.results),
        "green": len(outcome.green),
        "exit_code": outcome.code,
        "output": outcome.output if outcome.code else "",
    }


Intervals = Sequence[tuple[float, float]]


def waiting_for_nothing(wall: float, steps_seen: Intervals, claims: Intervals, workers: int) -> tuple[float, float]:
    """Return both parts of it in seconds, between and idle; see the module.

    Args:
        wall: Seconds from the start of the command to its end.
        steps_seen: Begin and end of every step.
        claims: Begin and end of every phase of every claim.
        workers: How many claims could run side by side.
    """
    between = max(0.0, wall - figures.union([*steps_seen, *claims]))
    if not claims:
        return between, 0.0
    span = max(end for _, end in claims) - min(begin for begin, _ in claims)
    return between, max(0.0, span - sum(end - begin for begin, end in claims) / workers)


def steps(heard: Sequence[tuple[float, str]]) -> list[tuple[float, float]]:
    """Return begin and end of every step that the progress lines tell of; a line is printed when its step ends."""
    ends = [(at, match) for at, line in heard if (match := _END_OF_STEP.match(line))]
    return [(at - float(match[1]), at) for at, match in ends]
