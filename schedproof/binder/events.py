"""Events about a pod, by its uid.

The core ``v1`` events are read: both old and new recorders' events are there, also those without an event time, on
which the ``events.k8s.io`` models of some clients fail (client-python#1616).
"""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.api import Api, Object
from schedproof.errors import ClaimFailed
from schedproof.watch.deadlines import EVENT, Deadline

SCHEDULED = "Scheduled"


def about(api: Api, uid: str, namespace: str, *, reason: str = "") -> list[Object]:
    """Return the events about the pod with this uid, oldest first."""
    found, _ = api.list("Event", namespace, fields=_selector(uid, reason))
    return sorted(found, key=when)


def scheduled(api: Api, uid: str, namespace: str, *, deadline: Deadline = EVENT) -> list[Object]:
    """Return the ``Scheduled`` events about a bound pod; wait for the first one, since it is sent after the binding.

    An empty list: none came within the deadline (the scheduler may lack the rule to create events).
    """
    from schedproof.watch.wait import wait_until

    try:
        found = wait_until(
            api,
            "Event",
            namespace,
            bool,
            deadline=deadline,
            expected="a Scheduled event",
            fields=_selector(uid, SCHEDULED),
        )
    except ClaimFailed:
        return []
    return sorted(found, key=when)


def reporter(event: Object) -> str:
    """Return who reported the event: ``reportingComponent``, or the older ``source.component``."""
    return str(event.get("reportingComponent") or (event.get("source") or {}).get("component") or "")


def when(event: Object) -> str:
    """Return the time an event is sorted by, RFC 3339.

    In this order: last time of its series, last time, event time, creation. First and last time are null in a
    scheduler's events (kubernetes#89689).
    """
    series = event.get("series") or {}
    times: Sequence[str | None] = (
        series.get("lastObservedTime"),
        event.get("lastTimestamp"),
        event.get("eventTime"),
        event.get("metadata", {}).get("creationTimestamp"),
    )
    found = next((time for time in times if time), "")
    # "...:07Z" would sort after "...:07.5Z": the letter after the digit.
    return found if "." in found else found.replace("Z", ".000000Z")


def line(event: Object) -> str:
    """Return an event in one line: reason, by whom, message."""
    message = " ".join(str(event.get("message") or "").split())
    return f"{event.get('type', '')} {event.get('reason', '')} by {reporter(event) or 'nobody named'}: {message[:300]}"


def _selector(uid: str, reason: str) -> str:
    return f"involvedObject.uid={uid}" + (f",reason={reason}" if reason else "")
