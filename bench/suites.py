"""The same claims, three contenders, one cluster a session and one a test: wall time from start to end, and ratios."""

from __future__ import annotations

from typing import Any

from bench import figures, inputs
from bench.contenders import RIVALS, Ingredients, Outcome, ours, rivals
from bench.environment import Environment
from schedproof.progress import progress

PER = {"session": "one cluster a session", "function": "one cluster a test"}
EXPECTED = {"session": 2.0, "function": 4.0}
"""How many times slower than ours the issue expects the rivals to be; printed beside what was seen."""


def measure(things: Ingredients, environment: Environment, repeats: int, pers: tuple[str, ...]) -> dict[str, Any]:
    """Return the seconds of every contender, and the ratios theirs : ours. Contenders take turns in every repeat."""
    seen: dict[str, list[Outcome]] = {}
    with rivals(things, environment) as others:
        for number in range(repeats):
            with progress.step(f"schedproof, new cluster (run {number + 1} of {repeats})"):
                seen.setdefault("schedproof", []).append(ours()[0])
            for per in pers:
                for rival in RIVALS:
                    with progress.step(f"{rival}, {PER[per]} (run {number + 1} of {repeats})"):
                        seen.setdefault(f"{rival}/{per}", []).append(others.run(rival, per))
    return {"unit": "s", "claims": list(inputs.CORE), "nodes": things.nodes, "contenders": _figures(seen, pers)}


def show(found: dict[str, Any]) -> str:
    """Return the figures as a table, and what went red."""
    rows = []
    for name, one in found["contenders"].items():
        rival, _, per = name.partition("/")
        ratio = f"{one['ratio']:.2f}" if "ratio" in one else ""
        expected = f"{EXPECTED[per]:g}" if per else ""
        green = f"{one['green']}/{len(found['claims'])}"
        rows.append(
            [f"{rival}{', ' + PER[per] if per else ', new cluster'}", f"{one['median']:.1f}", green, ratio, expected]
        )
    heading = [f"{len(found['claims'])} claims, wall time", "s", "green", "x ours", "expected"]
    faults = [f"! {name} was not green: {one['reds']}" for name, one in found["contenders"].items() if one["reds"]]
    return "\n".join([figures.table(heading, rows), *faults])


def _figures(seen: dict[str, list[Outcome]], pers: tuple[str, ...]) -> dict[str, Any]:
    base = figures.median([outcome.seconds for outcome in seen["schedproof"]])
    found: dict[str, Any] = {}
    for name in ("schedproof", *(f"{rival}/{per}" for per in pers for rival in RIVALS)):
        outcomes = seen[name]
        median = figures.median([outcome.seconds for outcome in outcomes])
        found[name] = {
            "seconds": [round(outcome.seconds, 2) for outcome in outcomes],
            "median": round(median, 2),
            "green": min(len(outcome.green) for outcome in outcomes),
            "reds": {test: why for outcome in outcomes for test, why in outcome.red.items()},
            "exit_codes": [outcome.code for outcome in outcomes],
            # A run that broke off early would look fast: its output says why, and its ratio is not to be believed.
            "output": next((outcome.output for outcome in outcomes if outcome.code != 0), ""),
        }
        if name != "schedproof":
            found[name]["ratio"] = round(median / base, 2)
    return found
