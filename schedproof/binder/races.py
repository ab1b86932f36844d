"""Two schedulers after the same pods, or after the same place: what came of it, counted from the audit log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from schedproof.errors import ClaimFailed
from schedproof.watch.deadlines import RUN
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.binder.audit import AuditLog
    from schedproof.pods import Pod


@dataclass(frozen=True)
class Contest:
    """What two schedulers of one name did to the same pods.

    Attributes:
        bound: Pods bound, by the identity that did it.
        refused: Attempts refused with 409, by identity, on pods that another identity had bound.
    """

    bound: Counter[str]
    refused: Counter[str]


def contest(pods: Sequence[Pod], *, audit: AuditLog) -> Contest:
    """Return what the audit log says about who bound pods and who was refused.

    Raises:
        ClaimFailed: A pod was bound twice, or by nobody.
    """
    audit.catch_up()
    bound: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for pod in pods:
        requests = audit.await_binding(pod)
        winners = [one for one in requests if one.accepted]
        if len(winners) != 1:
            raise ClaimFailed(
                f"pod {pod.name} is bound once",
                seen="\n".join(f"{one.who} binds it to {one.node}: {one.code}" for one in requests) or "by nobody",
            )
        bound[winners[0].user] += 1
        conflicts = (one for one in requests if one.code == HTTPStatus.CONFLICT and one.user != winners[0].user)
        refused.update(one.user for one in conflicts)
    return Contest(bound, refused)


def settle(pods: Sequence[Pod], *, api: Api) -> str:
    """Wait until of two pods that want the same place one runs and the other cannot; return how the other one ended.

    Returns:
        ``Pending`` (its scheduler found no room) or ``Failed`` (the node refused what was bound to it too late).

    Raises:
        ClaimFailed: Both run.
        WaitTimeout: They did not come to rest.
    """
    names = {pod.name for pod in pods}

    def at_rest(found: Sequence[Object]) -> bool:
        states = sorted(_state(pod) for pod in found if pod["metadata"]["name"] in names)
        return states.count("Running") > 1 or states in (["Failed", "Running"], ["Pending", "Running"])

    found = wait_until(api, "Pod", pods[0].namespace, at_rest, deadline=RUN,
                       expected=f"of {' and '.join(sorted(names))} one runs and the other one cannot")  # fmt: skip
    states = sorted(_state(pod) for pod in found if pod["metadata"]["name"] in names)
    if states.count("Running") > 1:
        raise ClaimFailed("of two pods that want the same place one runs", seen="both run")
    return states[0]


def _state(pod: Object) -> str:
    """Return ``Running``, ``Failed``, ``Pending`` (it fits nowhere), or an empty text for what may still change."""
    status: dict[str, Any] = pod.get("status") or {}
    if status.get("phase") in ("Running", "Failed"):
        return str(status["phase"])
    unschedulable = any(
        one["type"] == "PodScheduled" and one["status"] == "False" for one in status.get("conditions") or []
    )
    return "Pending" if unschedulable and not pod["spec"].get("nodeName") else ""
