"""Who bound a pod: three sources that must agree, or a message that says where they do not.

The ``Scheduled`` event says who it was, the audit log who asked the API server, ``spec.schedulerName`` who should have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING

from schedproof.api import Api
from schedproof.binder import DEFAULT, Known, events
from schedproof.binder.entries import Binding
from schedproof.errors import ApiError, ClaimFailed

if TYPE_CHECKING:
    from schedproof.binder.audit import AuditLog
    from schedproof.pods import Pod

BOTH = "Scheduled event and audit log"
AUDIT_ONLY = "audit log alone: there is no Scheduled event"
EVENT_ONLY = "Scheduled event alone: this cluster's audit log cannot be read"


@dataclass(frozen=True)
class Binder:
    """The scheduler that bound a pod.

    Attributes:
        scheduler: Its name for pods.
        identity: The user as whom it asked; empty when only an event tells.
        node: Where it put the pod.
        source: What this is known from.
        at: When the API server had answered the binding request, UTC; None when only an event tells.
        process: Which of the identity's processes (a pod's name), where the log has it.
    """

    scheduler: str
    identity: str
    node: str
    source: str
    at: datetime | None = None
    process: str = ""

    def __str__(self) -> str:
        """Return e.g. ``my-scheduler (system:serviceaccount:kube-system:my-scheduler) on worker``."""
        return f"{self.scheduler} ({self.identity or 'identity unknown'}) on {self.node}"


@dataclass(frozen=True)
class Traces:
    """What the three sources say about one bound pod.

    Attributes:
        wanted: ``spec.schedulerName``.
        node: ``spec.nodeName``.
        reporters: Who reported its ``Scheduled`` events, without repetitions.
        requests: The binding requests for it; None when the audit log cannot be read.
    """

    wanted: str
    node: str
    reporters: Sequence[str]
    requests: Sequence[Binding] | None


def bound_by(
    pod: Pod,
    *,
    api: Api,
    audit: AuditLog | None,
    known: Iterable[Known] = (),
    conflicts_allowed: bool = False,
    expected: str = "",
) -> Binder:
    """Return the scheduler that bound a pod.

    Args:
        pod: The pod, which should be bound by now.
        api: The API server.
        audit: Its audit log, followed since before the pod was made; None where it cannot be read.
        known: The schedulers that were deployed; the default one is always known.
        conflicts_allowed: Whether another scheduler may have tried too and been refused.
        expected: The claim's sentence for a failure.

    Raises:
        ClaimFailed: It is not bound; bound twice; by another name than it asks for; by one that nobody knows; another
            scheduler tried too; or it cannot be known who it was ("unknown, no event").
        ApiError: The audit log does not cover the time of the binding.
    """
    if audit is not None:
        audit.catch_up()
    expected = expected or f"pod {pod.name} is bound once, by {pod.scheduler}, whose name it carries"
    traces = _traces(pod, api, audit, expected)
    return join(traces, known, expected=expected, conflicts_allowed=conflicts_allowed)


def assert_bound_by(
    pod: Pod,
    scheduler: Known,
    *,
    api: Api,
    audit: AuditLog | None,
    known: Iterable[Known] = (),
    conflicts_allowed: bool = False,
) -> Binder:
    """Assert that a pod was bound once, by this scheduler and by nobody else.

    Args:
        pod: The pod, which should be bound by now.
        scheduler: Anything with a ``name`` and an ``identity``, e.g. :data:`schedproof.binder.DEFAULT`.
        api: The API server.
        audit: Its audit log; None where it cannot be read.
        known: Further schedulers that were deployed.
        conflicts_allowed: Whether another scheduler may have tried too and been refused.

    Raises:
        ClaimFailed: See :func:`bound_by`; or the binder is another one.
        ApiError: The audit log does not cover the time of the binding.
    """
    return assert_all_bound_by(
        [pod], scheduler, api=api, audit=audit, known=known, conflicts_allowed=conflicts_allowed
    )[0]


def assert_all_bound_by(
    pods: Sequence[Pod],
    scheduler: Known,
    *,
    api: Api,
    audit: AuditLog | None,
    known: Iterable[Known] = (),
    conflicts_allowed: bool = False,
) -> list[Binder]:
    """Assert the same of many pods, for which the audit log is read once; see :func:`assert_bound_by`."""
    if audit is not None:
        audit.catch_up()
    everybody = [scheduler, *known]
    binders = []
    for pod in pods:
        expected = f"pod {pod.name} is bound by {scheduler.name} and by nobody else"
        traces = _traces(pod, api, audit, expected)
        found = join(traces, everybody, expected=expected, conflicts_allowed=conflicts_allowed)
        if found.scheduler != scheduler.name:
            raise ClaimFailed(
                expected,
                seen=f"it was bound by {found} ({found.source})",
                cause=f"the pod asks for {traces.wanted}",
            )
        binders.append(found)
    return binders


def join(traces: Traces, known: Iterable[Known], *, expected: str, conflicts_allowed: bool = False) -> Binder:
    """Return the one binder on whom all traces of a bound pod agree.

    Raises:
        ClaimFailed: They do not agree, or there are too few of them.
    """
    identities: dict[str, set[str]] = {DEFAULT.name: {DEFAULT.identity}}
    for each in known:
        identities.setdefault(each.name, set()).add(each.identity)
    if len(traces.reporters) > 1:
        raise ClaimFailed(expected, seen=f"Scheduled events of {' and of '.join(traces.reporters)}")
    reporter = traces.reporters[0] if traces.reporters else ""
    if traces.requests is None:
        return _by_event(traces, reporter, expected)
    binding = _accepted(traces, reporter, expected)
    if not conflicts_allowed:
        _refuse_rivals(traces, binding, expected)
    if not reporter:
        reporter = _by_identity(binding, identities, expected)
    if binding.user not in identities.get(reporter, set()):
        raise ClaimFailed(expected, seen=_stranger(binding, reporter, identities))
    if reporter != traces.wanted:
        raise ClaimFailed(expected, seen=f"it asks for {traces.wanted} and was bound by {reporter}\n{_told(binding)}")
    source = BOTH if traces.reporters else AUDIT_ONLY
    return Binder(reporter, binding.user, traces.node, source, binding.time, binding.process)


def _traces(pod: Pod, api: Api, audit: AuditLog | None, expected: str) -> Traces:
    """Gather what the three sources say about a pod; the audit log has been caught up with."""
    current = pod.current()
    node = str(current["spec"].get("nodeName") or "")
    if not node:
        raise ClaimFailed(expected, seen=f"it is not bound\n{pod.describe()}")
    requests = None
    if audit is not None:
        requests = audit.await_binding(pod)
        if not any(request.accepted for request in requests):
            _require_covered(audit, pod, current["metadata"]["creationTimestamp"])
    # Without an accepted binding no event can be under way: then only look.
    if requests is None or any(request.accepted for request in requests):
        told = events.scheduled(api, pod.uid, pod.namespace)
    else:
        told = events.about(api, pod.uid, pod.namespace, reason=events.SCHEDULED)
    reporters = tuple(dict.fromkeys(events.reporter(event) for event in told))
    return Traces(str(current["spec"].get("schedulerName") or DEFAULT.name), node, reporters, requests)


def _by_event(traces: Traces, reporter: str, expected: str) -> Binder:
    if not reporter:
        raise ClaimFailed(
            expected,
            seen=f"bound to {traces.node}, by whom: unknown, no event",
            cause="its scheduler lacks the rule to create events, or nodeName was preset and no scheduler saw the pod",
            cure="run it on a cluster whose audit log can be read",
        )
    if reporter != traces.wanted:
        raise ClaimFailed(expected, seen=f"it asks for {traces.wanted}; its Scheduled event is of {reporter}")
    return Binder(reporter, "", traces.node, EVENT_ONLY)


def _accepted(traces: Traces, reporter: str, expected: str) -> Binding:
    """Return the one binding that took effect."""
    requests = traces.requests or ()
    accepted = [request for request in requests if request.accepted]
    if len(accepted) > 1:
        raise ClaimFailed(expected, seen="it was bound twice:\n" + "\n".join(map(_told, accepted)))
    if not accepted:
        tried = "".join(f"\n{_told(request)}" for request in requests)
        if reporter:
            raise ClaimFailed(
                expected,
                seen=f"{reporter} reported a Scheduled event, but no binding of the pod is in the audit log{tried}",
                cause=f"nodeName ({traces.node}) did not come from a binding: the event tells nothing",
            )
        raise ClaimFailed(
            expected,
            seen=f"it is on {traces.node} without an accepted binding and without a Scheduled event{tried}",
            cause="nodeName was preset in its spec: it bypassed all schedulers",
            cure="leave spec.nodeName out",
        )
    if accepted[0].node != traces.node:
        raise ClaimFailed(
            expected, seen=f"it is on {traces.node}, but the binding says otherwise\n{_told(accepted[0])}"
        )
    return accepted[0]


def _refuse_rivals(traces: Traces, binding: Binding, expected: str) -> None:
    """Fail when anybody but the binder asked for a binding, or the binder for another node.

    The same process that repeats a binding (409), or had to try more than once (429, 5xx), is benign: its answer got
    lost. Another identity, or another process of the same one, is a second scheduler that serves the name.
    """
    for request in traces.requests or ():
        if request is binding:
            continue
        if (request.user, request.process) != (binding.user, binding.process):
            raise ClaimFailed(
                expected,
                seen=f"another scheduler tried to bind it too:\n{_told(binding)}\n{_told(request)}",
                cause=f"two schedulers serve the name {traces.wanted}",
                cure="give each scheduler a name of its own, or let copies of one elect a leader",
            )
        if request.code == HTTPStatus.CONFLICT and request.node != traces.node:
            raise ClaimFailed(
                expected,
                seen=f"its binder asked for two nodes:\n{_told(binding)}\n{_told(request)}",
                cause="the scheduler forgot its own binding (a restart between the two?)",
            )


def _by_identity(binding: Binding, identities: dict[str, set[str]], expected: str) -> str:
    """Return the name of the binder when there is no event: only if its identity leaves no choice."""
    names = [name for name, users in identities.items() if binding.user in users]
    if len(names) == 1:
        return names[0]
    who = f"that identity serves {', '.join(names)}" if names else "nobody knows that identity"
    raise ClaimFailed(
        expected,
        seen=f"by which name: unknown, no event\n{_told(binding)}\n{who}",
        cause="the scheduler lacks the rule to create events (events.k8s.io), or stopped right after the binding",
    )


def _stranger(binding: Binding, reporter: str, identities: dict[str, set[str]]) -> str:
    if reporter in identities:
        wanted = " or ".join(sorted(identities[reporter]))
        return f"the event says {reporter}, which is {wanted}; but another identity made the binding\n{_told(binding)}"
    return f"it was bound by {reporter}, a scheduler that nobody knows\n{_told(binding)}"


def _told(request: Binding) -> str:
    """Return a binding request in one line."""
    when = request.received.strftime("%H:%M:%S.%f")
    answer = f"{request.code} {request.answer}".strip()
    return f"{when} {request.who} binds it to {request.node or 'a node that the log does not name'}: {answer}"


def _require_covered(audit: AuditLog, pod: Pod, created: str) -> None:
    made = datetime.fromisoformat(created)
    if made >= audit.since.replace(microsecond=0) and not audit.lost:
        return
    raise ApiError(
        f"the audit log covers the binding of pod {pod.name}",
        seen=f"no binding of it; it was made {made:%H:%M:%S}, the log is followed since {audit.since:%H:%M:%S}"
        + (f", and lines of it may have been lost {audit.lost} times (rotation)" if audit.lost else ""),
        cause="the log was opened too late, or rotated away",
        cure="open it before the pod is made; raise the API server's --audit-log-maxsize",
    )
