"""How much of the time was spent waiting: the wall time in which at least one wait of this process was under way."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

_lock = threading.Lock()
_running = 0
_began = 0.0
_total = 0.0


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Count the time of the block; blocks inside each other or side by side in threads are counted once."""
    global _running, _began, _total  # noqa: PLW0603 - one counter a process is the point
    with _lock:
        if _running == 0:
            _began = time.monotonic()
        _running += 1
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                _total += time.monotonic() - _began


def waited() -> float:
    """Return the seconds this process has spent in waits so far; take the difference of two calls."""
    with _lock:
        return _total + (time.monotonic() - _began if _running else 0.0)
