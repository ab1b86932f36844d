"""That the cause of a scheduler's trouble is named, and none that only looks like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tenacity

from schedproof.deploy import troubles
from schedproof.errors import ClaimFailed
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import Deadline

if TYPE_CHECKING:
    from schedproof.deploy.troubles import Trouble
    from schedproof.shapes.scheduler import Scheduler

NAMED = Deadline("NAMED", 20, "a container's first exit or refusal is in log and status within 5 s of its start")
STEP = 0.5
"""Seconds between two looks: neither a log nor a cause can be watched."""


def assert_cause_named(scheduler: Scheduler, trouble: Trouble, *, deadline: Deadline = NAMED) -> None:
    """Assert that a scheduler's cause is this trouble's, with what to do, and none with the same symptom.

    Args:
        scheduler: The scheduler in trouble.
        trouble: What it must name; its siblings (same symptom) must not be named, at once and for good.
        deadline: How long the cause may take to show.

    Raises:
        ClaimFailed: Another cause is named, or none.
    """
    expected = f"the cause of {scheduler.name}'s trouble is named ({trouble.id}): {trouble.cause}"
    asking = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda said: not trouble.named_in(said) and not _mistaken(trouble, said)),
        stop=tenacity.stop_after_delay(deadline.seconds),
        wait=tenacity.wait_fixed(STEP),
        retry_error_callback=lambda last: last.outcome.result() if last.outcome else "",
    )
    with waiting():
        said = asking(scheduler.cause)
    wrong = _mistaken(trouble, said)
    if wrong is not None or not trouble.named_in(said):
        raise ClaimFailed(
            expected,
            seen=f"named is {wrong.id if wrong else 'another' if said else 'none'}: {said or 'nothing looks wrong'}",
            scheduler=scheduler.state(),
        )
    if not trouble.cure_named_in(said):
        raise ClaimFailed(f"{expected}, and what to do: {trouble.cure}", seen=f"named is: {said}")


def assert_no_cause_named(scheduler: Scheduler) -> None:
    """Assert that nothing looks wrong with a scheduler that works: a warning in its log is no cause.

    Raises:
        ClaimFailed: A cause is named.
    """
    if said := scheduler.cause():
        raise ClaimFailed(f"no cause is named for {scheduler.name}, which works", seen=f"named is: {said}")


def _mistaken(trouble: Trouble, said: str) -> Trouble | None:
    """Return the trouble with the same symptom that is named instead, or as well."""
    return next((other for other in troubles.siblings(trouble) if other.named_in(said)), None)
