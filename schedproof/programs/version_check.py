"""Ask a program for its version: nothing is used under a name that it does not bear itself."""

from __future__ import annotations

import re
from pathlib import Path

from schedproof.command import CommandFailed, run
from schedproof.errors import ProgramError
from schedproof.programs.table import Program

PATIENCE = 30.0
"""Seconds for an answer; they come in under one, but the machine may be busy with a build."""


class WrongVersionError(ProgramError):
    """A program answers another version than the one asked for, or does not run."""


def answered(program: Program, path: Path) -> str:
    """Return the version that the program at ``path`` answers, with its ``v``; empty when there is none in the answer.

    Raises:
        CommandFailed: It does not run.
    """
    done = run([path, *program.asks], seconds=PATIENCE)
    found = re.search(program.answer, f"{done.stdout}\n{done.stderr}", re.MULTILINE)
    return f"v{found.group(1).removeprefix('v')}" if found else ""


def require(program: Program, path: Path, version: str) -> None:
    """Make sure that the program at ``path`` runs and answers ``version``.

    Raises:
        WrongVersionError: It does not.
    """
    try:
        seen = answered(program, path)
    except CommandFailed as error:
        raise WrongVersionError(
            f"{program.name} {version} runs on this machine", seen=error.message.seen, cause="made for another machine?"
        ) from error
    if seen != version:
        raise WrongVersionError(
            f"{program.name} answers {version} to {' '.join(program.asks)}",
            seen=f"it answers {seen or 'no version at all'}",
            cause="the file is not what its name says",
            cure="force another provider (PROVIDERS=, see docs/programs.md) or report it",
        )
