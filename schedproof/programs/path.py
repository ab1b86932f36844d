"""Provider ``path``: a program that the user has already, when its version suits. Never for what goes into an image."""

from __future__ import annotations

import shutil
from pathlib import Path

from schedproof.command import CommandFailed
from schedproof.programs import version_check
from schedproof.programs.provider import Answers, PassedOver, Wanted
from schedproof.programs.table import KIND, Program, Source, numbers
from schedproof.progress import Step


class OnPath:
    """Looks at the first program of the name on PATH."""

    name: Source = "path"

    def offer(self, wanted: Wanted, folder: Path, step: Step) -> Answers:  # noqa: ARG002 - the protocol's
        """Return the suitable ones."""
        return {program.name: _found(program, wanted.version) for program in wanted.programs}


def _found(program: Program, version: str) -> Path | PassedOver:
    place = shutil.which(program.name)
    if place is None:
        return PassedOver("none on PATH")
    try:
        seen = version_check.answered(program, Path(place))
        suits = bool(seen) and _suits(program, numbers(seen), numbers(version))
    except (CommandFailed, ValueError):
        return PassedOver(f"{place} does not tell its version")
    if not suits:
        return PassedOver(f"{place} is {seen or 'of no known version'}, {_rule(program, version)} is wanted")
    return Path(place)


def _suits(program: Program, seen: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    if program.family is KIND:
        return seen >= wanted
    # kubectl: https://kubernetes.io/releases/version-skew-policy/#kubectl
    return seen[0] == wanted[0] and abs(seen[1] - wanted[1]) <= 1


def _rule(program: Program, version: str) -> str:
    return f"{version} or newer" if program.family is KIND else f"within one minor of {version}"
