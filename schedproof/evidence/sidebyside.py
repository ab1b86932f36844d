"""Do several things side by side and go on at a deadline, whatever hangs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from schedproof.errors import HarnessError, SchedproofError

T = TypeVar("T")


def side_by_side(jobs: Mapping[str, Callable[[], T]], *, seconds: float) -> dict[str, T | SchedproofError]:
    """Run every job in a thread of its own and return what came of each, in the order given.

    Args:
        jobs: Name -> what to do.
        seconds: Deadline of all of them together; what has not ended by then is left behind.

    Returns:
        Name -> its result, or the error of ours that it ended with. Another exception is a fault in the job itself and
        comes back as a :class:`HarnessError`: nothing here may hide the failure that is being looked into.
    """
    results: dict[str, T | SchedproofError] = {}

    def work(name: str, job: Callable[[], T]) -> None:
        try:
            results[name] = job()
        except SchedproofError as error:
            results[name] = error
        except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
            results[name] = HarnessError(f"{name} can be collected", seen=f"{type(error).__name__}: {error}")

    # Daemons: a job that hangs in a dead connection must not keep the process alive.
    threads = {name: threading.Thread(target=work, args=(name, job), daemon=True) for name, job in jobs.items()}
    for thread in threads.values():
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads.values():
        thread.join(max(0.0, deadline - time.monotonic()))
    late = HarnessError(
        "evidence is collected in time", seen=f"it did not end within {seconds:.0f} s and was left behind"
    )
    return {name: results.get(name, late) for name in jobs}
