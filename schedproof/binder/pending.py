"""Pods that must stay Pending: nothing may happen to them for the length of HOLD, while other pods are bound."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from schedproof.api import Api, Object
from schedproof.binder import events
from schedproof.errors import ApiError, ClaimFailed, ClusterError, UsageError
from schedproof.watch import state
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import CONTROL, HOLD, Deadline
from schedproof.watch.follow import Following

if TYPE_CHECKING:
    from schedproof.binder.audit import AuditLog
    from schedproof.pods import Pod

GONE, ENDING, BOUND = "it is gone", "it is being deleted", "it is bound to"

Factory = Callable[[], Iterable["Pod"]]


@dataclass(frozen=True)
class Held:
    """That pods stayed Pending, and what shows that they could have been bound in that time.

    Attributes:
        seconds: How long nothing happened to them.
        controls: Seconds from the creation of each positive control to its binding.
        fences: The same of each fence.
    """

    seconds: float
    controls: tuple[float, ...]
    fences: tuple[float, ...]


def assert_stays_pending(
    pods: Sequence[Pod],
    *,
    api: Api,
    audit: AuditLog | None,
    controls: Factory,
    fences: Factory | None = None,
    since: float | None = None,
    hold: Deadline = HOLD,
) -> Held:
    """Assert that pods have and get no node, condition, event or binding request for the length of ``hold``.

    Args:
        pods: The pods, all of one namespace.
        api: The API server.
        audit: Its audit log, followed since before the pods were made; None where it cannot be read: then binding
            requests that were refused are not seen.
        controls: Creates the positive controls, at least one pod that a running scheduler binds: they are bound within
            the same window, so that a slow cluster cannot pass as a Pending pod.
        fences: Creates one pod for each *running* scheduler, of the same priority: its binding shows that this
            scheduler's queue has moved past the pods. It supports the hold and does not replace it.
        since: ``time.time()`` from when it is certain that the pods' scheduler is gone or was never there; the hold
            counts from then, or from the pods' creation if that was later. None: from now.
        hold: How long.

    Raises:
        ClaimFailed: Something happened; the message says what came first and who did it.
        ClusterError: A control or a fence was not bound: nothing is known about the claim.
        ApiError: The API server did not answer at the end of the window.
        UsageError: There is no pod or no control, or a control that was on a node from the first.
    """
    window = _Window(pods, api, audit, hold)
    end = time.monotonic() + hold.seconds - _already_held(pods, since)
    following = Following(api, "Pod", window.namespace, end=end)
    with waiting(), contextlib.closing(following.snapshots()) as snapshots:
        first = next(snapshots, None)
        if first is not None:
            window.require_untouched(first)
        # The watch goes on from the version of that list, so that nothing in between is passed over.
        control_seconds = _all_bound("positive control", controls())
        fence_seconds = _all_bound("fence", fences() if fences is not None else ())
        if not control_seconds:
            raise UsageError("a hold has a positive control", seen="the factory made no pod", cure="make one")
        for snapshot in snapshots:
            window.require_untouched(snapshot)
    if following.fault is not None:
        raise ApiError(
            "the API server answers at the end of the hold",
            seen=following.fault.message.seen,
            cause=following.fault.message.cause,
            cure=following.fault.message.cure,
        ) from following.fault
    window.close()
    return Held(time.monotonic() - end + hold.seconds, control_seconds, fence_seconds)


class _Window:
    """What is watched, and how a change of it is told."""

    def __init__(self, pods: Sequence[Pod], api: Api, audit: AuditLog | None, hold: Deadline) -> None:
        if not pods or len({pod.namespace for pod in pods}) != 1:
            raise UsageError(
                "the pods that stay Pending are at least one, all of one namespace",
                seen=", ".join(map(repr, pods)) or "no pod",
                cure="call it once a namespace",
            )
        self._pods, self._api, self._audit, self._hold = pods, api, audit, hold
        self.namespace = pods[0].namespace
        self._began = time.monotonic()

    def require_untouched(self, snapshot: Sequence[Object]) -> None:
        there = {obj["metadata"]["uid"]: obj for obj in snapshot}
        for pod in self._pods:
            change = _change(there.get(pod.uid))
            if change:
                self._fail(pod, change)

    def close(self) -> None:
        """Look a last time at everything that a watch of pods does not show."""
        if self._audit is not None:
            self._audit.catch_up()
        self.require_untouched(self._api.list("Pod", self.namespace)[0])
        for pod in self._pods:
            if self._audit is not None and self._audit.bindings_of(pod):
                self._fail(pod, "somebody asked for its binding and was refused")
            told = events.about(self._api, pod.uid, self.namespace)
            if told:
                self._fail(pod, f"an event: {events.line(told[0])}")

    def _fail(self, pod: Pod, change: str) -> None:
        after = time.monotonic() - self._began
        names = ", ".join(each.name for each in self._pods)
        raise ClaimFailed(
            f"{names} stays Pending for {self._hold.seconds:g} s ({self._hold.name}): "
            "no node, no condition, no event, no binding request",
            seen="\n".join(
                [f"{pod.name}, {after:.1f} s into the window: {change}", *self._who(pod, change), pod.describe()]
            ),
            cause="" if change in (GONE, ENDING) else f"a scheduler that serves the name {pod.scheduler} is running",
        )

    def _who(self, pod: Pod, change: str) -> list[str]:
        """Return who did something to the pod, first things first."""
        if self._audit is None:
            return []
        if change.startswith(BOUND):
            self._audit.await_binding(pod)
        else:
            self._audit.read()
        done = [
            (
                each.received,
                f"{each.who} binds it to {each.node or 'a node that the log does not name'}: {each.code}",
                each.agent,
            )
            for each in self._audit.bindings_of(pod)
        ]
        done += [
            (each.received, f"{each.who} sets {', '.join(each.conditions)}: {each.code}", each.agent)
            for each in self._audit.status_patches(pod.namespace, pod.name)
        ]
        done += [
            (each.received, f"{each.who} deletes {each.name or 'all pods of the namespace'}: {each.code}", each.agent)
            for each in self._audit.deletions(pod.namespace)
            if each.name in ("", pod.name)
        ]
        return [f"{when:%H:%M:%S.%f} {what} ({agent})" for when, what, agent in sorted(done)[:4]]


def _change(obj: Object | None) -> str:
    """Return what has happened to a pod that should be untouched, or an empty text."""
    if obj is None:
        return GONE
    status = obj.get("status", {})
    if obj["spec"].get("nodeName"):
        return f"{BOUND} {obj['spec']['nodeName']}"
    if obj["metadata"].get("deletionTimestamp"):
        return ENDING
    if status.get("conditions"):
        return f"it has a condition: {state.conditions(status['conditions'])}"
    if status.get("phase", "Pending") != "Pending":
        return f"its phase is {status['phase']}"
    return ""


def _already_held(pods: Sequence[Pod], since: float | None) -> float:
    """Return for how many seconds the pods have been held already; creation times are cut to whole seconds."""
    if since is None:
        return 0.0
    created = max(datetime.fromisoformat(pod.made["metadata"]["creationTimestamp"]).timestamp() + 1 for pod in pods)
    return max(0.0, time.time() - max(since, created))


def _all_bound(what: str, pods: Iterable[Pod]) -> tuple[float, ...]:
    began = time.monotonic()
    seconds = []
    for pod in pods:
        if pod.made["spec"].get("nodeName"):
            raise UsageError(
                f"a scheduler binds the {what} {pod.name}",
                seen="it was on a node from the first: it shows nothing",
                cure="leave spec.nodeName out",
            )
        try:
            pod.wait_until_bound(CONTROL)
        except ClaimFailed as error:
            raise ClusterError(
                f"the {what} {pod.name} (for {pod.scheduler}) is bound",
                seen=error.message.seen,
                cause=error.message.cause or f"{pod.scheduler} does not run, or the cluster is too slow to judge",
                cure=f"a {what} asks for a scheduler that is running; see whether {pod.scheduler} is",
            ) from error
        seconds.append(time.monotonic() - began)
    return tuple(seconds)
