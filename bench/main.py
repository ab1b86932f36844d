"""What ``make bench`` runs: the measurements asked for, one JSON file and one table each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import caught, contenders, costs, environment, figures, latency, machine, page, suites
from schedproof import prepare, programs
from schedproof.cluster.signals import Terminated, terminable
from schedproof.errors import ExitCode, SchedproofError, UsageError
from schedproof.host.checks import require_host
from schedproof.host.engine import ensure_engine
from schedproof.settings import Settings, settings

ALL = ("latency", "suites", "mutants", "costs")
"""What a call without words measures, in this order; ``cold`` must be asked for."""


def parser() -> argparse.ArgumentParser:
    """Return the grammar of the command line."""
    top = argparse.ArgumentParser(prog="python -m bench", description="See docs/bench.md.")
    top.add_argument("what", nargs="*", help=f"{', '.join(ALL)} (default: these), cold, or page")
    top.add_argument("--rounds", type=int, default=40, help="binds for each way of waiting and load (latency)")
    top.add_argument("--repeats", type=int, default=1, help="runs of each contender (suites)")
    top.add_argument(
        "--per", choices=("session", "function", "both"), default="both", help="clusters of rivals (suites)"
    )
    top.add_argument(
        "--our-results", type=Path, help="results.json of a `make mutants`, instead of running ours (mutants)"
    )
    top.add_argument("--yes", action="store_true", help="cold may remove everything that schedproof made here")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, write ``artifacts/bench/*.json``, print the tables; return 0, or the exit code of what went wrong."""
    arguments = parser().parse_args(argv)
    try:
        with terminable():
            asked = _asked(arguments.what)
            if measured := [word for word in asked if word != "page"]:
                _measure(arguments, measured)
            if "page" in asked:
                print(page.write())
    except UsageError as error:
        return _failed(error, ExitCode.USAGE)
    except SchedproofError as error:
        return _failed(error, ExitCode.HARNESS)
    except (Terminated, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return ExitCode.PROVED


def _asked(words: Sequence[str]) -> tuple[str, ...]:
    for word in words:
        if word not in (*ALL, "cold", "page"):
            raise UsageError(f"one of {', '.join(ALL)}, cold, page", seen=word, cure="see docs/bench.md")
    return tuple(words) or ALL


def _measure(arguments: argparse.Namespace, asked: Sequence[str]) -> None:
    chosen = settings({"suite": "documents"})
    require_host(chosen)
    ensure_engine(chosen)
    theirs = environment.ensure()
    for word in asked:
        if word == "cold":
            # Before anything else is looked at: what is made for it would not be cold any more.
            _tell(word, machine.facts(theirs), found := costs.cold(yes=arguments.yes), costs.show(found))
            continue
        things = contenders.prepare(chosen)
        facts = machine.facts(theirs, **_versions(chosen, things))
        match word:
            case "latency":
                with prepare.prepare(chosen) as cluster:
                    found = latency.measure(cluster, theirs, arguments.rounds)
                text = latency.show(found)
            case "suites":
                pers = ("session", "function") if arguments.per == "both" else (arguments.per,)
                found = suites.measure(things, theirs, arguments.repeats, pers)
                text = suites.show(found)
            case "mutants":
                found = caught.measure(things, theirs, arguments.our_results)
                text = caught.show(found)
            case _:
                found = costs.warm_and_kept()
                text = costs.show(found)
        _tell(word, facts, found, text)


def _versions(chosen: Settings, things: contenders.Ingredients) -> dict[str, Any]:
    return {
        "kubernetes": things.kubernetes,
        "node_image": things.node_image,
        "scheduler": things.images.scheduler,
        "kind": programs.kind_version(),
        "nodes": chosen.nodes,
    }


def _tell(name: str, facts: dict[str, Any], found: dict[str, Any], text: str) -> None:
    text = f"{text}\n{machine.line(facts)}"
    path = figures.write(name, facts, found, text)
    print(f"\n{text}\n{path}\n", flush=True)


def _failed(error: SchedproofError, code: ExitCode) -> int:
    print(f"bench: {error}", file=sys.stderr)
    return code
