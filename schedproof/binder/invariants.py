"""What holds over the whole time of every claim, read from the audit log, not from a last look."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING

from schedproof.api import Api, Object
from schedproof.binder import DEFAULT
from schedproof.binder.quantity import quantity, requests
from schedproof.errors import ClaimFailed

if TYPE_CHECKING:
    from schedproof.binder.audit import AuditLog
    from schedproof.binder.entries import Binding
    from schedproof.cluster.facts import Facts

DEFAULT_LEASE = "the default scheduler keeps its lease"
"""The invariant that a claim about the theft of that lease waives."""

RIVALS = "nobody but its binder asks for a pod's binding"
"""The invariant that a claim about two schedulers of one name waives."""

LEASE_NAMESPACE, LEASE = "kube-system", "kube-scheduler"


def check(
    api: Api,
    facts: Facts,
    audit: AuditLog | None,
    *,
    since: float,
    namespaces: Sequence[str] = (),
    pods: Iterable[Object] = (),
    waived: Collection[str] = (),
) -> None:
    """Check the invariants of a claim.

    - The lease ``kube-system/kube-scheduler`` was held by schedulers of the control plane only.
    - No pod of the claim was bound twice, and no other identity than its binder's was refused one (409): such an
      attempt may come after the claim has judged its pod.
    - No node was given more than its allocatable while one scheduler alone bound pods to it: a node to which several
      did is left out, since two schedulers may honestly take the same place. Counted are the pods that are known
      (those that still exist, and ``pods``); a pod counts until its deletion is first asked for. So what is reported is
      certain, but an excess that shows only together with other pods of the node is not seen.

    Args:
        api: The API server.
        facts: The cluster.
        audit: Its audit log; None where it cannot be read: then only the lease's present holder is checked.
        since: ``time.time()`` of the claim's begin.
        namespaces: The claim's own namespaces.
        pods: Pods of the claim as they once were, also those that are gone.
        waived: What the claim breaks on purpose: :data:`DEFAULT_LEASE`, :data:`RIVALS`.

    Raises:
        ClaimFailed: One is broken; the message says who did what when.
    """
    if DEFAULT_LEASE not in waived:
        _present_holder(api, facts)
    if audit is None:
        return
    audit.catch_up()
    begin = datetime.fromtimestamp(since, UTC)
    if DEFAULT_LEASE not in waived:
        _lease_kept(audit, facts, begin)
    attempts = audit.bindings(since=begin)
    bindings = [each for each in attempts if each.accepted]
    _bound_once([each for each in bindings if each.namespace in namespaces])
    if RIVALS not in waived:
        _no_rivals(attempts, namespaces)
    known = {pod["metadata"]["uid"]: pod for pod in pods}
    for namespace in namespaces:
        known |= {pod["metadata"]["uid"]: pod for pod in api.list("Pod", namespace)[0]}
    _within_allocatable(api, audit, bindings, known)


def _present_holder(api: Api, facts: Facts) -> None:
    if not facts.control_planes:
        return  # a managed cluster hides them: whose a holder is cannot be told
    lease = api.get("Lease", LEASE, LEASE_NAMESPACE)
    holder = str(((lease or {}).get("spec") or {}).get("holderIdentity") or "")
    if not _of_control_plane(holder, facts):
        raise _taken(f"it is held by {holder}")


def _lease_kept(audit: AuditLog, facts: Facts, begin: datetime) -> None:
    for update in audit.leases(LEASE_NAMESPACE, LEASE, since=begin):
        if not update.accepted or (update.holder is None and update.verb != "delete"):
            continue
        if update.holder is None:
            raise _taken(f"{update.received:%H:%M:%S.%f} {update.who} deleted it")
        if update.user != DEFAULT.identity or not _of_control_plane(update.holder, facts):
            raise _taken(f"{update.received:%H:%M:%S.%f} {update.who} made {update.holder or 'nobody'} its holder")


def _of_control_plane(holder: str, facts: Facts) -> bool:
    """Whether a holder is a control plane's scheduler (``NODE_uuid``), or nobody: a lease may be given up."""
    return not holder or any(holder.startswith(f"{node}_") for node in facts.control_planes)


def _taken(seen: str) -> ClaimFailed:
    return ClaimFailed(
        f"the default scheduler keeps its lease {LEASE_NAMESPACE}/{LEASE} (invariant of every claim)",
        seen=seen,
        cause="a second scheduler with leaderElect: true and no lease name of its own took the default's place",
        cure="give it leaderElection.resourceName of its own, or leaderElect: false",
    )


def _bound_once(bindings: Iterable[Binding]) -> None:
    first: dict[str, Binding] = {}
    for binding in bindings:
        earlier = first.setdefault(binding.uid, binding)
        if binding.uid and earlier is not binding:
            raise ClaimFailed(
                f"pod {binding.name} is bound once (invariant of every claim)",
                seen=f"{earlier.time:%H:%M:%S.%f} {earlier.who} bound it to {earlier.node}\n"
                f"{binding.time:%H:%M:%S.%f} {binding.who} bound it to {binding.node}",
            )


def _no_rivals(attempts: Sequence[Binding], namespaces: Sequence[str]) -> None:
    binders = {each.uid: each for each in attempts if each.accepted and each.uid and each.namespace in namespaces}
    for each in attempts:
        winner = binders.get(each.uid)
        if winner is not None and each.code == HTTPStatus.CONFLICT and each.user != winner.user:
            raise ClaimFailed(
                f"pod {each.name}: {RIVALS} (invariant of every claim)",
                seen=f"{winner.time:%H:%M:%S.%f} {winner.who} bound it to {winner.node}\n"
                f"{each.time:%H:%M:%S.%f} {each.who} tried to bind it to {each.node}: {each.code}",
                cause="two schedulers serve one name",
                cure="give each scheduler a name of its own, or let copies of one elect a leader",
            )


def _within_allocatable(api: Api, audit: AuditLog, bindings: Sequence[Binding], known: dict[str, Object]) -> None:
    binders: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for binding in bindings:
        binders[binding.node].add((binding.user, binding.process))
    sizes = {node["metadata"]["name"]: node["status"].get("allocatable") or {} for node in api.list("Node")[0]}
    for node, who in binders.items():
        ours = [each for each in bindings if each.node == node and each.uid in known and _counts(known[each.uid])]
        if len(who) == 1 and node in sizes and ours:
            _require_room(node, sizes[node], ours, known, audit)


def _counts(pod: Object) -> bool:
    """Whether it is known when the pod gave its place free: when one that has ended did so is not."""
    return pod.get("status", {}).get("phase") not in ("Succeeded", "Failed")


def _require_room(
    node: str, size: dict[str, str], bindings: Sequence[Binding], known: dict[str, Object], audit: AuditLog
) -> None:
    here: list[Binding] = []
    for binding in bindings:
        here = [each for each in here if not _deleted_before(audit, each, binding.received)]
        here.append(binding)
        taken: dict[str, Decimal] = defaultdict(Decimal)
        for each in here:
            for resource, amount in requests(known[each.uid]).items():
                taken[resource] += amount
        for resource, amount in taken.items():
            room = quantity(size.get(resource, "0"))
            if amount > room:
                raise ClaimFailed(
                    f"node {node} gets no more than its allocatable {resource}: {room} (invariant of every claim)",
                    seen=f"{binding.time:%H:%M:%S.%f} {binding.who} bound {binding.name} to it, which makes {amount}; "
                    f"there: {', '.join(each.name for each in here)}",
                    cause="the scheduler does not count what it has bound, or its fit filter is switched off",
                )


def _deleted_before(audit: AuditLog, binding: Binding, moment: datetime) -> bool:
    """Whether the deletion of a bound pod (by name, or of its whole namespace's pods) was asked for by ``moment``."""
    return any(
        deletion.accepted and deletion.name in ("", binding.name) and binding.received <= deletion.received <= moment
        for deletion in audit.deletions(binding.namespace)
    )
