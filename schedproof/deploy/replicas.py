"""Replicas of a scheduler of which one leads: its leader ended, killed, frozen, and what followed measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from schedproof.cluster import process
from schedproof.deploy import bundle, election
from schedproof.errors import ApiError, ClaimFailed, UsageError
from schedproof.watch.deadlines import Deadline

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.binder.audit import AuditLog
    from schedproof.pods import Pod
    from schedproof.shapes.deployment import Deployment

EARLY = 0.5
"""Seconds that a renewal under way may take off the shortest gap."""

SLACK = 2.0
"""Seconds that a request, a look and a busy machine may add to what the lease's arithmetic says."""


@dataclass(frozen=True)
class Change:
    """What was done to a leader.

    Attributes:
        leader: Its identity in the lease, ``POD_uuid``.
        at: When, UTC.
        transitions: How often the lease had changed hands before.
        node: Where its process was.
        pid: The process, as that node numbers it.
    """

    leader: str
    at: datetime
    transitions: int
    node: str
    pid: int


class Replicas:
    """A scheduler with several replicas and an election.

    Args:
        api: The cluster.
        audit: Its audit log, followed since before the first change.
        scheduler: The scheduler, ready.

    Raises:
        UsageError: It has no lease of its own.
    """

    def __init__(self, api: Api, audit: AuditLog, scheduler: Deployment) -> None:
        if scheduler.lease is None or not scheduler.lease.own:
            raise UsageError(f"{scheduler.title} elects its leader with a lease of its own", seen=str(scheduler.lease))
        self._api, self._audit, self.scheduler = api, audit, scheduler
        self.lease: bundle.Lease = scheduler.lease
        self.timing = election.timing(scheduler.objects)
        longest = self.timing.crash_gap[1] + SLACK
        self._fail_over = Deadline("FAIL-OVER", longest + 10, f"by this lease's settings at most {longest:.1f} s")

    def end_leader(self) -> Change:
        """Delete the leader's Pod with time to end: SIGTERM, at which it gives its lease up."""
        change, pod = self._leader()
        self._api.delete("Pod", pod["metadata"]["name"], self.scheduler.namespace)
        self.scheduler.happened("end")
        return change

    def kill_leader(self) -> Change:
        """Kill the leader's process with SIGKILL."""
        change, _ = self._leader()
        process.signal(change.node, change.pid, "KILL")
        self.scheduler.happened("kill")
        return change

    def freeze_leader(self) -> Change:
        """Stop the leader's process with SIGSTOP."""
        change, _ = self._leader()
        process.signal(change.node, change.pid, "STOP")
        self.scheduler.happened("freeze")
        return change

    def thaw(self, change: Change) -> float:
        """Let a frozen leader go on, and return after how many seconds it had ended by itself.

        Raises:
            WaitTimeout: It still ran ``renewDeadline`` and some seconds later.
        """
        began = time.monotonic()
        process.signal(change.node, change.pid, "CONT")
        self.scheduler.happened("thaw")
        limit = Deadline("RENEW", self.timing.renew + SLACK, "a leader that cannot renew its lease ends")
        process.wait_until_ended(change.node, change.pid, limit)
        return time.monotonic() - began

    def wait_until_taken_over(self, change: Change) -> float:
        """Wait until another leads; return the seconds between the change and its first accepted claim to the lease.

        Raises:
            WaitTimeout: Nobody did in time.
            ApiError: The audit log does not show it.
        """
        leader = election.wait_until_held(
            self._api, self.lease, lambda identity: identity != change.leader, self._fail_over,
            f"another than {change.leader.partition('_')[0]} holds the lease {self.lease.name}",
        )  # fmt: skip
        self._audit.catch_up()
        for update in self._audit.leases(self.lease.namespace, self.lease.name, since=change.at):
            if update.accepted and update.holder == leader:
                return (update.time - change.at).total_seconds()
        raise ApiError(f"the audit log shows how {leader} took the lease {self.lease.name}", seen="it does not")

    def assert_gap_within(self, gap: float, shortest: float, longest: float) -> None:
        """Assert that a gap is one that the lease's settings allow.

        Raises:
            ClaimFailed: It is shorter or longer.
        """
        if not shortest - EARLY <= gap <= longest + SLACK:
            raise ClaimFailed(
                f"another leads between {shortest:.1f} and {longest:.1f} s after the leader went (this lease: "
                f"{self.timing.lease:g} s, renewed every {self.timing.retry:g} s)",
                seen=f"after {gap:.1f} s",
                cause="the lease was not given up" if shortest == 0.0 else "the lease was given up, or not kept",
            )

    def assert_changed_hands_once(self, change: Change) -> None:
        """Assert that the lease has changed hands once since.

        Raises:
            ClaimFailed: It did so more often, or not at all.
        """
        now = election.transitions(self._api, self.lease)
        if now != change.transitions + 1:
            raise ClaimFailed(
                f"the lease {self.lease.name} changes hands once", seen=f"{now - change.transitions} times"
            )

    def assert_each_bound_once(self, pods: Sequence[Pod]) -> int:
        """Assert that each pod was bound once, by whichever replica; return how many attempts more there were.

        Raises:
            ClaimFailed: One was bound twice, not at all, or by another identity.
        """
        self._audit.catch_up()
        late = 0
        for pod in pods:
            requests = self._audit.await_binding(pod)
            accepted = [one for one in requests if one.accepted]
            strangers = {one.user for one in requests} - {self.scheduler.identity}
            if len(accepted) != 1 or strangers:
                raise ClaimFailed(
                    f"pod {pod.name} is bound once, by a replica of {self.scheduler.name}",
                    seen="\n".join(f"{one.who} binds it to {one.node}: {one.code}" for one in requests) or "by nobody",
                )
            late += len(requests) - 1
        return late

    def _leader(self) -> tuple[Change, Object]:
        identity = election.wait_until_held(
            self._api, self.lease, lambda _: True, self._fail_over, f"somebody holds the lease {self.lease.name}"
        )
        name = identity.partition("_")[0]
        pod = next((one for one in self.scheduler.pods() if one["metadata"]["name"] == name), None)
        if pod is None:
            raise ApiError(f"a Pod of {self.scheduler.name} leads", seen=f"{identity} holds the lease")
        node, pid = process.of_container(pod, self.scheduler.container)
        before = election.transitions(self._api, self.lease)
        return Change(identity, datetime.now(UTC), before, node, pid), pod
