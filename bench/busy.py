"""All processors busy: as many processes that only count as there are processors, of the ordinary priority."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

LONGEST = 900.0
"""Seconds after which a busy process ends by itself, whatever became of us."""

_SPIN = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"


@contextmanager
def busy(count: int | None = None, seconds: float = LONGEST) -> Iterator[list[int]]:
    """Keep ``count`` processors (by default all of this process) busy within the block; yields the process ids."""
    with ExitStack() as stack:
        started: list[int] = []
        for _ in range(count or len(os.sched_getaffinity(0))):
            process = subprocess.Popen([sys.executable, "-S", "-c", _SPIN, str(seconds)])
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process.pid)
        yield started
