"""The API server's audit log, read through the engine: who asked for which binding, lease, deletion, condition."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import tenacity

from schedproof.api import Api
from schedproof.binder.entries import Binding, Deletion, Entry, LeaseUpdate, NotAnEntry, StatusPatch, parse
from schedproof.binder.tail import Tail
from schedproof.cluster.config import AUDIT_LOG
from schedproof.cluster.facts import Facts
from schedproof.errors import ApiError
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import AUDIT, LATE, Deadline

if TYPE_CHECKING:
    from schedproof.pods import Pod

KEPT = 100_000
"""Entries of a sort that are kept; older ones are forgotten (about 60 MB at most)."""
MARKER = "schedproof-marker-"


class AuditLog:
    """Follows the audit logs of all control planes from now on; may be shared by threads.

    Nothing is read until it is asked for. Lines that say nothing about schedulers are skipped, lines that are no audit
    events are counted.

    Args:
        facts: The cluster.
        from_start: Whether what was logged before now counts too.

    Attributes:
        since: From when on the log is followed, UTC: about a pod that was bound earlier nothing is known.
        unknown: Lines that were no audit events.

    Raises:
        ClusterError: A control plane has no audit log, or the engine does not answer.
    """

    def __init__(self, facts: Facts, *, from_start: bool = False) -> None:
        self._facts = facts
        self._tails = [Tail(node, AUDIT_LOG) for node in facts.control_planes]
        if not from_start:
            for tail in self._tails:
                tail.skip()
        self._begin = [tail.copy() for tail in self._tails]
        self.since = datetime.min.replace(tzinfo=UTC) if from_start else datetime.now(UTC)
        self.unknown = 0
        self._bindings: deque[Binding] = deque(maxlen=KEPT)
        self._leases: deque[LeaseUpdate] = deque(maxlen=KEPT)
        self._deletions: deque[Deletion] = deque(maxlen=KEPT)
        self._patches: deque[StatusPatch] = deque(maxlen=KEPT)
        self._holders: dict[tuple[str, str], LeaseUpdate] = {}
        self._markers: set[str] = set()
        self._lock = threading.RLock()
        self._api: Api | None = None
        self._lost_told = 0

    @property
    def lost(self) -> int:
        """How often lines may have been missed (rotation, truncation); 0 means that the log is complete."""
        return sum(tail.lost for tail in self._tails)

    def read(self) -> None:
        """Read what has been added.

        Raises:
            ClusterError: A node does not answer.
        """
        with self._lock:
            for tail in self._tails:
                for line in tail.lines():
                    self._take(line)

    def catch_up(self, deadline: Deadline = AUDIT) -> None:
        """Read until everything is there that was answered before this call.

        A request of our own, the deletion of a pod that does not exist, marks the place. The API server writes an entry
        before it sends the end of its answer; so the other control planes' logs, which the marker does not reach, are
        complete too.

        Raises:
            ApiError: The marker did not appear; or lines were lost since the last call, so that what is not in the log
                may have happened all the same.
            ClusterError: A node does not answer.
        """
        marker = MARKER + os.urandom(6).hex()
        self._client().delete("Pod", marker, "default")
        if not self._read_until(lambda: marker in self._markers, deadline):
            raise ApiError(
                f"the audit log shows a request within {deadline.seconds:g} s (deadline {deadline.name})",
                seen=f"the deletion of pod {marker} is not in it",
                cause="the audit policy leaves out deletions of pods, or the API server cannot write its log",
                cure="compare the API server's --audit-policy-file with manifests/audit/policy.yaml",
            )
        self._markers.discard(marker)
        if self.lost > self._lost_told:
            self._lost_told = self.lost
            raise ApiError(
                "the audit log is complete",
                seen="lines of it were lost: it was cut, or rotated twice between two looks",
                cure="run it again; if it comes back, raise the API server's --audit-log-maxsize",
            )

    def await_binding(self, pod: Pod, deadline: Deadline = LATE) -> list[Binding]:
        """Return the binding requests for a pod as soon as an accepted one is there, or after the deadline without.

        A watch shows a bound pod some milliseconds before the binding request ends and is logged.
        """

        def accepted() -> bool:
            return any(binding.accepted for binding in self.bindings_of(pod))

        if not accepted():
            self._read_until(accepted, deadline)
        return self.bindings_of(pod)

    def bindings(self, uid: str | None = None, *, since: datetime | None = None) -> list[Binding]:
        """Return the binding requests, accepted or not, for one pod or all, as they arrived."""
        found: list[Binding] = self._since(self._bindings, since)
        return found if uid is None else [binding for binding in found if binding.uid == uid]

    def bindings_of(self, pod: Pod) -> list[Binding]:
        """Return the binding requests for a pod, also those that were refused before their body was read (403).

        Such a request has no uid in the log: it counts for the pod that had this name at the time.
        """
        made = datetime.fromisoformat(pod.made["metadata"]["creationTimestamp"])
        place = (pod.namespace, pod.name)
        return [
            each
            for each in self._since(self._bindings, None)
            if each.uid == pod.uid or (not each.uid and (each.namespace, each.name) == place and each.received >= made)
        ]

    def leases(self, namespace: str, name: str, *, since: datetime | None = None) -> list[LeaseUpdate]:
        """Return the updates of a lease that changed user, holder or answer; repeated ones are left out.

        The last one before ``since`` is among them: its holder held the lease when the time began.
        """
        found = [each for each in self._since(self._leases, None) if (each.namespace, each.name) == (namespace, name)]
        if since is None:
            return found
        before = [each for each in found if each.received < since]
        return before[-1:] + [each for each in found if each.received >= since]

    def deletions(self, namespace: str, *, since: datetime | None = None) -> list[Deletion]:
        """Return the requests to delete or evict pods of a namespace."""
        return [each for each in self._since(self._deletions, since) if each.namespace == namespace]

    def status_patches(self, namespace: str, name: str, *, since: datetime | None = None) -> list[StatusPatch]:
        """Return the changes of a pod's status by anybody but kubelets."""
        found = self._since(self._patches, since)
        return [each for each in found if (each.namespace, each.name) == (namespace, name)]

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield the audit events since this log is followed as they stand in it, read anew: for evidence."""
        for begin in self._begin:
            for line in begin.copy().lines():
                try:
                    event = json.loads(line)
                except ValueError:
                    continue
                if isinstance(event, dict):
                    yield event

    def _since(self, kept: deque[Any], since: datetime | None) -> list[Any]:
        with self._lock:
            found = [entry for entry in kept if since is None or entry.received >= since]
        return sorted(found, key=lambda entry: entry.received)

    def _take(self, line: str) -> None:
        try:
            entry: Entry | None = parse(line)
        except NotAnEntry:
            self.unknown += 1
            return
        match entry:
            case Binding():
                self._bindings.append(entry)
            case LeaseUpdate():
                key = (entry.namespace, entry.name)
                last = self._holders.get(key)
                if last is None or _gist(last) != _gist(entry):
                    self._leases.append(entry)
                    self._holders[key] = entry
            case Deletion() if entry.name.startswith(MARKER):
                self._markers.add(entry.name)
            case Deletion():
                self._deletions.append(entry)
            case StatusPatch():
                self._patches.append(entry)

    def _read_until(self, seen: Callable[[], bool], deadline: Deadline) -> bool:
        def look() -> bool:
            self.read()
            return seen()

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda found: not found),
            stop=tenacity.stop_after_delay(deadline.seconds),
            wait=tenacity.wait_exponential(multiplier=0.02, max=0.5),
            retry_error_callback=lambda _state: False,
        )
        with waiting():
            return retrying(look)

    def _client(self) -> Api:
        if self._api is None:
            self._api = Api(self._facts.kubeconfig)
        return self._api


def _gist(update: LeaseUpdate) -> tuple[object, ...]:
    return update.user, update.process, update.holder, update.code
