"""``schedproof test``: everything that can be checked without a cluster."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from schedproof.data import CHECKOUT
from schedproof.errors import ExitCode, UsageError
from schedproof.progress import progress

CHECKS: tuple[tuple[str, ...], ...] = (
    ("ruff", "check", "--quiet"),
    ("ruff", "format", "--check", "--quiet"),
    ("mypy",),
    ("codespell",),
    ("yamllint", "--strict", "manifests"),
    ("schedproof", "claims", "--check"),
)
"""Programs of the virtual environment, each silent or brief when all is well."""


def test(arguments: argparse.Namespace) -> int:
    """Run the checks and the self-tests side by side; exit code 1 when one fails."""
    rest = [*shlex.split(os.environ.get("ARGS", "")), *(word for word in arguments.pytest_args if word != "--")]
    began = time.monotonic()
    programs, pipe = Path(sys.executable).parent, subprocess.PIPE
    if missing := sorted({argv[0] for argv in CHECKS if not (programs / argv[0]).exists()}):
        raise UsageError(
            f"the programs of the checks are in {programs}",
            seen=f"missing: {', '.join(missing)}",
            cure="run `make test` in a checkout, whose virtual environment has them",
        )
    checks = [
        (argv, subprocess.Popen([programs / argv[0], *argv[1:]], cwd=CHECKOUT, stdout=pipe, stderr=subprocess.STDOUT))
        for argv in CHECKS
    ]
    self_tests = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", "-n", "2", "-q", *rest], cwd=CHECKOUT, check=False
    )
    failed = self_tests.returncode != 0
    for argv, process in checks:
        output = process.communicate()[0].decode(errors="replace").strip()
        failed = failed or process.returncode != 0
        progress.line(f"{'+' if process.returncode == 0 else '!'} {shlex.join(argv)}")
        if process.returncode != 0:
            progress.line(output)
    progress.line(f"{'! something failed' if failed else '+ all well'} ({time.monotonic() - began:.0f} s)")
    return ExitCode.CLAIM_FAILED if failed else ExitCode.PROVED
