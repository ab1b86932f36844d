"""The one door to the container engine: its command line, so that it works with whatever engine that line is set up for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from schedproof.command import Completed, run
from schedproof.errors import EngineError

QUICK = 30.0
"""Seconds for a question to a healthy engine; far more than it needs, so that only a dead one runs into it."""


def docker(
    *args: str | Path,
    seconds: float = QUICK,
    check: bool = True,
    stdin: str | bytes | Path | None = None,
    on_line: Callable[[str], None] | None = None,
    first_output: float | None = None,
    cure: str = "see `make doctor`",
) -> Completed:
    """Run ``docker ARGS``; see :func:`schedproof.command.run` for the rest."""
    program = shutil.which("docker")
    if program is None:
        raise EngineError(
            "the program docker is on PATH",
            cure="install Docker (as root on Debian 12, BOOTSTRAP=1 make e2e does it), see `make doctor`",
        )
    return run(
        ["docker", *args],
        seconds=seconds,
        check=check,
        stdin=stdin,
        on_line=on_line,
        first_output=first_output,
        cure=cure,
    )
