"""Wait until the objects of a kind are in a state: list, then watch; never sleep, always end, always say why."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from schedproof.api import Api, Object
from schedproof.errors import ApiError, Unreachable, WaitTimeout
from schedproof.watch import state
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import Deadline
from schedproof.watch.follow import Following

Ready = Callable[[list[Object]], bool]
Hopeless = Callable[[list[Object]], str | None]


def wait_until(
    api: Api,
    kind: str,
    namespace: str,
    ready: Ready,
    *,
    deadline: Deadline,
    expected: str,
    hopeless: Hopeless | None = None,
    labels: str = "",
    fields: str = "",
    describe: Callable[[Sequence[Object]], str] = state.lines,
) -> list[Object]:
    """Return the objects as soon as ``ready`` is true of them.

    Args:
        api: The API server.
        kind: Kind of the objects.
        namespace: Their namespace; empty: all.
        ready: Gets the current objects that the selectors match, in no order, perhaps none.
        deadline: Named; kept across 410, cut and silent connections.
        expected: What is waited for, as a sentence for the message.
        hopeless: Returns why the state can no longer be reached, or None; ends the wait at once.
        labels: Label selector.
        fields: Field selector.
        describe: Turns the last objects into the few lines of a failure.

    Raises:
        WaitTimeout: The deadline passed, and the API server answered to the last.
        Unreachable: ``hopeless`` gave a reason.
        Forbidden: A rule is missing: no wait could help.
        ApiError: The API server did not answer when the deadline passed: nothing is known of the state.
    """
    following = Following(api, kind, namespace, end=time.monotonic() + deadline.seconds, labels=labels, fields=fields)
    last: list[Object] | None = None
    with waiting(), contextlib.closing(following.snapshots()) as snapshots:
        for last in snapshots:
            if ready(last):
                return last
            reason = hopeless(last) if hopeless is not None else None
            if reason:
                raise Unreachable(expected, seen=describe(last), cause=reason)
    if following.fault is not None:
        seen = "" if last is None else f"\nlast state before that:\n{describe(last)}"
        raise ApiError(
            f"the API server answers while waiting for: {expected}",
            seen=f"{following.fault.message.seen}, still so at the end of {deadline}{seen}",
            cause=following.fault.message.cause,
            cure=following.fault.message.cure,
        ) from following.fault
    raise WaitTimeout(
        f"{expected}, within {deadline.seconds:g} s (deadline {deadline.name}: {deadline.why})",
        seen=describe(last or []),
    )
