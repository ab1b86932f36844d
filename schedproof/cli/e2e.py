"""``schedproof e2e`` and ``schedproof mutants``: checks the machine, sees to an engine, and becomes pytest."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from schedproof.errors import ExitCode, UsageError
from schedproof.settings import KNOBS, Settings, settings, worker_count

CLAIMS = Path("e2e")
"""The claims' folder, in the working folder."""


def prove(arguments: argparse.Namespace) -> int:
    """Prove the claims of a suite; does not return when it goes well (the process becomes pytest)."""
    return _run(arguments, [])


def mutants(arguments: argparse.Namespace) -> int:
    """Run every mutant of a suite's claims beside its unbroken twin."""
    return _run(arguments, ["--mutants"])


def suites(chosen: Settings) -> list[Path]:
    """Return the folders of the suite(s) asked for.

    Raises:
        UsageError: There is no such folder; the message lists those that exist.
    """
    there = sorted(path for path in CLAIMS.glob("*/") if any(path.glob("test_*.py")) and path.name != "mutants")
    if chosen.suite == "all" and there:
        return there
    if CLAIMS / chosen.suite not in there:
        raise UsageError(
            f"SUITE={chosen.suite} is a folder of claims below {CLAIMS}/",
            seen=f"there are: {', '.join(path.name for path in there) or 'none (is this the checkout?)'}",
            cure="choose one of them, or SUITE=all",
        )
    return [CLAIMS / chosen.suite]


def pytest_command(chosen: Settings, arguments: argparse.Namespace, extra: list[str]) -> list[str]:
    """Return the pytest command that a run becomes: suite, workers, the options given, and ``ARGS``."""
    passed_on: list[str] = []
    for knob in KNOBS:
        value = getattr(arguments, knob.field, None)
        if value not in (None, False):
            passed_on += [knob.option] if knob.flag else [knob.option, str(value)]
    rest = [word for word in arguments.pytest_args if word != "--"]
    return [
        sys.executable, "-m", "pytest", *(str(folder) for folder in suites(chosen)),
        "-n", str(worker_count(chosen)), "--dist", "loadgroup",
        *extra, *passed_on, *shlex.split(os.environ.get("ARGS", "")), *rest,
    ]  # fmt: skip


def _run(arguments: argparse.Namespace, extra: list[str]) -> int:
    """Return the exit code where the run ends before pytest; otherwise the process becomes pytest."""
    from schedproof import plan
    from schedproof.host.checks import require_host
    from schedproof.host.engine import ensure_engine

    chosen = settings(vars(arguments))
    command = pytest_command(chosen, arguments, extra)
    if chosen.plan:
        plan.show(chosen)
        return ExitCode.PROVED
    require_host(chosen)
    if not chosen.existing_kubeconfig:
        ensure_engine(chosen)
    sys.stderr.flush()
    return os.execv(command[0], command)  # noqa: S606 - signals and the exit code are pytest's from here on
