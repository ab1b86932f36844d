"""What the API server's "no" means: refused, forbidden (and by which missing rule), expired, or not now.

A refusal that nobody expected is a harness error by its category; a claim that asks for one catches :class:`Refused`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeAlias

from schedproof.errors import ApiError

Object: TypeAlias = dict[str, Any]
"""One API object, or a part of one, as the API server sends it."""

_CANNOT = re.compile(
    r'User "(?P<user>[^"]*)" cannot (?P<verb>[a-z]+) (?:path "(?P<path>[^"]*)"|'
    r'resource "(?P<resource>[^"]*)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]*)")?)'
)
_NAMED = re.compile(r'^(?P<kind>[a-z0-9./-]+) "(?P<name>[^"]+)" is forbidden')


@dataclass(frozen=True)
class Rule:
    """The RBAC rule that a refused request would have needed.

    Attributes:
        user: Who was refused, e.g. ``system:serviceaccount:kube-system:my-scheduler``.
        verb: ``list``, ``create``, ...
        resource: With its subresource, e.g. ``pods/binding``; or the path of a request that is not for a resource.
        group: API group; empty is the core group.
        namespace: Empty: the rule is needed for the whole cluster.
        name: Object's name when the request had one.
    """

    user: str
    verb: str
    resource: str
    group: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """Return the rule as it stands in a Role or ClusterRole, and to whom it is missing."""
        if self.resource.startswith("/"):
            words = f'nonResourceURLs: ["{self.resource}"], verbs: ["{self.verb}"]'
        else:
            words = f'apiGroups: ["{self.group}"], resources: ["{self.resource}"], verbs: ["{self.verb}"]'
        if self.name and self.verb in ("get", "update", "patch", "delete"):
            words += f' (resourceNames, if given, must hold "{self.name}")'
        where = f"in namespace {self.namespace}" if self.namespace else "for the whole cluster"
        return f"{words} for {self.user} {where}"


def missing_rule(text: str) -> Rule | None:
    """Return the rule that a "forbidden" message asks for, be it an answer's or a line of a scheduler's log.

    None: the words are no RBAC refusal (a quota, an admission plugin, or no refusal at all).
    """
    plain = text.replace('\\"', '"')
    found = _CANNOT.search(plain)
    if found is None:
        return None
    named = _NAMED.search(plain)
    return Rule(
        user=found["user"],
        verb=found["verb"],
        resource=found["path"] or found["resource"] or "",
        group=found["group"] or "",
        namespace=found["namespace"] or "",
        name=named["name"] if named else "",
    )


class Refused(ApiError):  # noqa: N818 - says what the answer was
    """The API server answered with an error code: 4xx, or 5xx where the code itself was asked for.

    Attributes:
        code: HTTP status, e.g. 422.
        reason: The server's word for it, e.g. ``Invalid``, ``AlreadyExists``, ``Conflict``.
        answer: The server's sentence; ``str(error)`` holds it too.
    """

    def __init__(
        self, request: str, code: int, answer: str, *, reason: str = "", cause: str = "", cure: str = ""
    ) -> None:
        super().__init__(
            f"the API server accepts {request}", seen=f"{code} {reason}: {answer}".strip(), cause=cause, cure=cure
        )
        self.code, self.reason, self.answer = code, reason, answer


class Forbidden(Refused):
    """The requester lacks an RBAC rule; ``rule`` is the one it would need."""

    def __init__(self, request: str, answer: str, rule: Rule) -> None:
        super().__init__(
            request, 403, answer, reason="Forbidden", cause=f"{rule.user} lacks a rule", cure=f"grant {rule}"
        )
        self.rule = rule


class Expired(ApiError):  # noqa: N818 - says what the answer was
    """The resourceVersion to watch from is too old (410): list again."""


class Unavailable(ApiError):  # noqa: N818 - says what the answer was
    """Not answered now, perhaps later: refused or cut connections, time-outs, 429, 5xx. Worth a retry.

    Attributes:
        after: Seconds the server asked to wait (``Retry-After``); 0 when it did not.
    """

    def __init__(self, request: str, seen: str, *, after: float = 0.0, cause: str = "") -> None:
        super().__init__(
            f"the API server answers {request}",
            seen=seen,
            cause=cause or "the API server, its node or the way to it is down or overloaded",
            cure="see whether the control-plane container runs (docker ps) and what its log says",
        )
        self.after = after


def error_for(request: str, code: int, body: bytes, *, after: float = 0.0, retryable: bool = True) -> ApiError:
    """Return the error that an answer of 400 and above stands for; ``retryable`` False takes 5xx as a final answer."""
    reason, answer = _words(body)
    if code == HTTPStatus.GONE:
        return Expired(f"{request} goes on from where it was", seen=answer)
    if retryable and (code == HTTPStatus.TOO_MANY_REQUESTS or code >= HTTPStatus.INTERNAL_SERVER_ERROR):
        own = code == HTTPStatus.INTERNAL_SERVER_ERROR
        cause = "the API server fails at this request, which may be at fault itself" if own else ""
        return Unavailable(request, f"{code} {reason}: {answer}", after=after, cause=cause)
    if code == HTTPStatus.UNAUTHORIZED:
        cure = "the kubeconfig's credentials are not (or no longer) this cluster's: make the cluster again"
        return Refused(request, code, answer, reason=reason, cause="the credentials are not accepted", cure=cure)
    rule = missing_rule(answer)
    if code == HTTPStatus.FORBIDDEN and rule is not None:
        return Forbidden(request, answer, rule)
    return Refused(request, code, answer, reason=reason)


def _words(body: bytes) -> tuple[str, str]:
    """Return the reason and message of a Status object; of anything else its first lines."""
    text = body.decode(errors="replace").strip()
    try:
        status = json.loads(text)
    except ValueError:
        return "", text[:2000]
    if not isinstance(status, dict):
        return "", text[:2000]
    return str(status.get("reason") or ""), str(status.get("message") or text[:2000])
