"""Medians, percentiles and ratios; results as JSON in ``artifacts/bench/``."""

from __future__ import annotations

import datetime
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schedproof import folders

SCHEMA = 1


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile: a value that was seen, never one in between.

    With fewer than 100 values p99 is the largest one.
    """
    if not values:
        raise ValueError("no values")
    rank = max(1, math.ceil(percent / 100 * len(values)))
    return sorted(values)[rank - 1]


def summary(values: Sequence[float]) -> dict[str, float]:
    """Return number, least, p50, p99 and largest of the values, in their own unit."""
    return {
        "rounds": len(values),
        "min": min(values),
        "p50": percentile(values, 50),
        "p99": percentile(values, 99),
        "max": max(values),
    }


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def union(intervals: Sequence[tuple[float, float]]) -> float:
    """Return the length of what the intervals cover together; overlaps count once."""
    total, end = 0.0, -math.inf
    for begin, stop in sorted(intervals):
        total += max(0.0, stop - max(begin, end))
        end = max(end, stop)
    return total


def write(name: str, machine: dict[str, Any], figures: dict[str, Any], text: str = "") -> Path:
    """Write one measurement with the machine's facts as ``artifacts/bench/NAME.json`` and return its path.

    ``text`` is the table for people, kept beside it as ``NAME.txt``.
    """
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    content = {"schema_version": SCHEMA, "name": name, "taken": now, "machine": machine, "figures": figures}
    folder = folders.artifacts() / "bench"
    folders.write_text(folder / f"{name}.txt", f"{text}\n")
    return folders.write_text(folder / f"{name}.json", json.dumps(content, indent=1) + "\n")


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table: the first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in (heading, *rows)) for column in range(len(heading))]
    lines = [
        "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in (heading, *rows))
    ]
    return "\n".join(line.rstrip() for line in lines)
