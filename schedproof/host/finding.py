"""What a check says: a state, what was seen, and a cure. One line each."""

from __future__ import annotations

from typing import Literal, NamedTuple

State = Literal["ok", "mended", "warning", "bad"]


class Finding(NamedTuple):
    """What a check found."""

    state: State
    seen: str
    cure: str = ""


def ok(seen: str) -> Finding:
    """Nothing has to be done."""
    return Finding("ok", seen)


def mended(seen: str) -> Finding:
    """It was wrong; it is right now."""
    return Finding("mended", seen)


def warning(seen: str, cure: str) -> Finding:
    """It may go wrong."""
    return Finding("warning", seen, cure)


def bad(seen: str, cure: str) -> Finding:
    """It will go wrong, and schedproof cannot mend it."""
    return Finding("bad", seen, cure)


def size(number: int) -> str:
    """Return bytes as a reader wants them."""
    return f"{number / (1 << 30):.1f} GiB"
