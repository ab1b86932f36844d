"""pytest plugin (``-p bench.intervals``): when every phase of every claim began and ended, for the controller."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

VARIABLE = "SCHEDPROOF_BENCH_INTERVALS"
"""Environment variable with the path of the file to write: a JSON list of [begin, end], seconds since the epoch."""

_seen: list[tuple[float, float]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a phase; with xdist the controller is told of all workers' phases."""
    _seen.append((report.start, report.stop))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write them, in the controller only."""
    if not hasattr(session.config, "workerinput") and (path := os.environ.get(VARIABLE)):
        Path(path).write_text(json.dumps(_seen), encoding="utf-8")
