"""How a waiter talks to the measuring process: a pod a line in, the time of its return a line out.

A waiter is started once, so that imports and connections of a Python library are not counted; what a way of waiting
starts anew for every pod (a kubectl process) is.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def serve(wait: Callable[[str, str], object]) -> None:
    """Answer each line ``NAMESPACE POD`` of standard input, once the wait for that pod has returned.

    The answer is ``{"returned": nanoseconds since the epoch}``. It is taken right behind the call, in the waiter: what
    the answer itself costs is not counted. The API server's clock is this machine's too.
    """
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        namespace, name = line.split()
        wait(namespace, name)
        print(json.dumps({"returned": time.time_ns()}), flush=True)
