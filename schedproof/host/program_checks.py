"""Checks of programs: kind, Go, Python."""

from __future__ import annotations

import re
import shutil
import sys

from schedproof.command import CommandFailed, run
from schedproof.host.finding import Finding, bad, ok, warning
from schedproof.host.sight import Sight

ASK = 2.0
"""Seconds for a program to say its version."""

PYTHON_FLOOR = (3, 11)

AUTO_TOOLCHAIN = (1, 21)
"""The first Go that fetches a newer Go by itself: https://go.dev/doc/toolchain"""


def kind(sight: Sight) -> Finding:
    """The kind on PATH is new enough, or another one is used."""
    from schedproof.programs import kind_version

    pinned = kind_version()
    found = _version("kind", "version")
    forced = sight.settings.providers.get("kind") == "path"
    if found is None:
        return (
            bad("none on PATH, and PROVIDERS forces that one", "leave PROVIDERS out")
            if forced
            else ok(f"none on PATH: {pinned} from the cache, its release, or built")
        )
    if found >= _numbers(pinned):
        return ok(f"{_text(found)} on PATH")
    if forced:
        return bad(f"{_text(found)} on PATH is older than {pinned}, and PROVIDERS forces it", f"install kind {pinned}")
    return ok(
        f"{_text(found)} on PATH is older than {pinned} and passed over: {pinned} from the cache, its release, or built"
    )


def go(sight: Sight) -> Finding:
    """Go is there when something has to be built."""
    from schedproof.programs.table import GO_FLOOR

    found = _version("go", "version")
    cure = f"install Go {GO_FLOOR} or newer (https://go.dev/dl) and put it on PATH"
    if found is None:
        return (
            bad("none on PATH, and programs have to be built", cure) if sight.builds else ok("none; nothing to build")
        )
    if found >= _numbers(GO_FLOOR):
        return ok(f"{_text(found)}")
    if not sight.builds:
        return ok(f"{_text(found)}, too old for building ({GO_FLOOR}); nothing to build")
    if found >= AUTO_TOOLCHAIN:
        return warning(f"{_text(found)}: it has to fetch Go {GO_FLOOR} or newer first (GOTOOLCHAIN)", cure)
    return bad(f"{_text(found)} is too old: {GO_FLOOR} is needed", cure)


def python(sight: Sight) -> Finding:  # noqa: ARG001 - every check is called alike
    """The language that schedproof is written in."""
    text = ".".join(str(number) for number in sys.version_info[:3])
    if sys.version_info[:2] < PYTHON_FLOOR:
        return bad(f"{text} is too old", "use Python 3.11 or newer: make e2e PYTHON=python3.11")
    return ok(text)


def _version(program: str, question: str) -> tuple[int, ...] | None:
    """Return the version that a program on PATH tells; None when there is none, or it does not tell."""
    if shutil.which(program) is None:
        return None
    try:
        # GOTOOLCHAIN=local: the question alone must not download a newer Go.
        answer = run([program, question], seconds=ASK, check=False, cwd=None, env={"GOTOOLCHAIN": "local"}).stdout
    except CommandFailed:
        return None
    found = re.search(r"(?:\bv|\bgo)(\d+)\.(\d+)(?:\.(\d+))?", answer)
    return tuple(int(number) for number in found.groups() if number) if found else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.removeprefix("v").split("."))


def _text(version: tuple[int, ...]) -> str:
    return ".".join(str(number) for number in version)
