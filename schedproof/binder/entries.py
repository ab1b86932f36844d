"""Lines of the API server's audit log, as far as they say something about schedulers and pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

NODE_USER = "system:node:"
POD_NAME = "authentication.kubernetes.io/pod-name"
CREDENTIAL = "authentication.kubernetes.io/credential-id"


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that the API server has answered.

    Attributes:
        received: When the API server got it, UTC, microseconds.
        time: When it had answered, the same clock.
        user: Who asked.
        process: Which of that user's processes: a ServiceAccount's pod, or a client certificate; empty if unknown.
        agent: The user agent.
        verb: ``create``, ``patch``, ``delete``, ...
        code: HTTP status of the answer.
        answer: The server's words about a refusal.
        namespace: Namespace of the object.
        name: Its name; empty for a whole collection.
        uid: Its uid, where the log has it.
    """

    received: datetime
    time: datetime
    user: str
    process: str
    agent: str
    verb: str
    code: int
    answer: str
    namespace: str
    name: str
    uid: str

    @property
    def accepted(self) -> bool:
        """Whether the request took effect."""
        return HTTPStatus.OK <= self.code < HTTPStatus.MULTIPLE_CHOICES

    @property
    def who(self) -> str:
        """The user and, for a ServiceAccount, the pod, for messages."""
        return f"{self.user} (pod {self.process})" if self.process and "=" not in self.process else self.user


@dataclass(frozen=True, slots=True)
class Binding(Entry):
    """A request to bind a pod to ``node``."""

    node: str


@dataclass(frozen=True, slots=True)
class LeaseUpdate(Entry):
    """A change of a lease. ``holder`` is empty when it was given up; None when the request does not say."""

    holder: str | None


@dataclass(frozen=True, slots=True)
class Deletion(Entry):
    """A request to delete or evict a pod, or with an empty ``name`` all pods of a namespace."""


@dataclass(frozen=True, slots=True)
class StatusPatch(Entry):
    """A change of a pod's status by anybody but a kubelet; ``conditions`` e.g. ``PodScheduled=False Unschedulable``."""

    conditions: tuple[str, ...]


class NotAnEntry(ValueError):  # noqa: N818 - says what the line is not
    """The line is no audit event."""


def parse(line: str) -> Entry | None:
    """Return what a line says; None for an event that is not about binding, leases, deletions or conditions.

    Raises:
        NotAnEntry: The line is no audit event at all.
    """
    try:
        event = json.loads(line)
        if event["kind"] != "Event" or "stage" not in event:
            raise NotAnEntry(line[:200])
        if event["stage"] not in ("ResponseComplete", "Panic"):
            return None
        return _entry(event)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise NotAnEntry(line[:200]) from error


def _entry(event: Mapping[str, Any]) -> Entry | None:
    about = event.get("objectRef") or {}
    verb = event["verb"]
    match about.get("resource"), about.get("subresource", ""), verb:
        case ("pods", "binding", "create") | ("bindings", "", "create"):
            return _binding(event)
        case "leases", "", "create" | "update" | "patch" | "delete":
            spec = (event.get("requestObject") or {}).get("spec") or {}
            # Giving a lease up is an update that leaves the holder empty or out.
            holder = str(spec.get("holderIdentity") or "") if spec else None
            return LeaseUpdate(**_common(event), holder=holder)
        case ("pods", "", "delete" | "deletecollection") | ("pods", "eviction", "create"):
            return Deletion(**_common(event))
        case "pods", "status", "patch" | "update" if not _user(event).startswith(NODE_USER):
            return StatusPatch(**_common(event), conditions=_conditions(event))
    return None


def _binding(event: Mapping[str, Any]) -> Binding:
    body = event.get("requestObject") or {}
    common = _common(event)
    meta = body.get("metadata") or {}
    common["name"] = common["name"] or str(meta.get("name") or "")  # POST .../bindings has it in the body only
    common["uid"] = str(meta.get("uid") or common["uid"])
    return Binding(**common, node=str((body.get("target") or {}).get("name") or ""))


def _conditions(event: Mapping[str, Any]) -> tuple[str, ...]:
    status = (event.get("requestObject") or {}).get("status") or {}
    return tuple(
        f"{each['type']}={each.get('status', '?')} {each.get('reason') or ''}".strip()
        for each in status.get("conditions") or []
        if "type" in each
    )


def _user(event: Mapping[str, Any]) -> str:
    # Impersonation: the request counts as the impersonated user's.
    return str((event.get("impersonatedUser") or event["user"])["username"])


def _common(event: Mapping[str, Any]) -> dict[str, Any]:
    about, answer = event.get("objectRef") or {}, event.get("responseStatus") or {}
    extra = (event.get("impersonatedUser") or event["user"]).get("extra") or {}
    credential = next(iter(extra.get(CREDENTIAL) or []), "")
    # A ServiceAccount's token is renewed every hour, so its id does not tell the process; a certificate's does.
    process = next(iter(extra.get(POD_NAME) or []), "") or (credential if credential.startswith("X509") else "")
    return {
        "received": datetime.fromisoformat(event["requestReceivedTimestamp"]),
        "time": datetime.fromisoformat(event["stageTimestamp"]),
        "user": _user(event),
        "process": process,
        "agent": str(event.get("userAgent") or ""),
        "verb": event["verb"],
        "code": int(answer.get("code") or 0),
        "answer": str(answer.get("message") or ""),
        "namespace": str(about.get("namespace") or ""),
        "name": str(about.get("name") or ""),
        "uid": str(about.get("uid") or ""),
    }
