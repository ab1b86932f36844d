"""The document's edit of the ClusterRole system:kube-scheduler: one more lease name, and its undoing.

The role is the default scheduler's too, so it is edited, never overwritten: what it granted before, it grants after.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import tenacity

from schedproof.api import Refused
from schedproof.errors import ApiError

if TYPE_CHECKING:
    from schedproof.api import Api, Object

ROLE = "system:kube-scheduler"
KIND = "rbac.authorization.k8s.io/v1/ClusterRole"

EDITS = 10
"""Attempts of one edit; claims that run side by side edit the same role."""

Grant = tuple[str, str, str, str]
"""(group, resource, resourceName or "", verb)."""


def grants(role: Object) -> set[Grant]:
    """Return everything that a role grants on resources."""
    return {
        (group, resource, name, verb)
        for rule in role.get("rules") or []
        for group in rule.get("apiGroups") or []
        for resource in rule.get("resources") or []
        for name in rule.get("resourceNames") or [""]
        for verb in rule.get("verbs") or []
    }


def current(api: Api) -> Object:
    """Return the ClusterRole as it is now.

    Raises:
        ApiError: There is none.
    """
    return _role(api)


def with_lease(rules: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return rules that also allow the lease ``name`` wherever they allow the default scheduler's."""
    return _changed(rules, add=name)


def without_lease(rules: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Return rules without the lease ``name``."""
    return _changed(rules, remove=name)


def allow_lease(api: Api, name: str) -> bool:
    """Add a lease's name to the resourceNames of system:kube-scheduler; return whether it was not there yet.

    Raises:
        ApiError: The role has no rule for the default scheduler's lease, or the edit would take a right away.
    """

    def change(role: Object) -> list[dict[str, Any]]:
        rules = with_lease(role["rules"], name)
        if rules == role["rules"] and not any(grant[2] == name for grant in grants(role)):
            raise ApiError(
                f"the ClusterRole {ROLE} has a rule for the lease kube-scheduler, to which another name can be added",
                seen="it has none",
                cure="was the role overwritten? `kubectl get clusterrole system:kube-scheduler -o yaml`",
            )
        return rules

    return _edit(api, change, gone="")


def forbid_lease(api: Api, name: str) -> bool:
    """Undo :func:`allow_lease`; return whether there was anything to undo. The default scheduler's lease stays."""
    if name == "kube-scheduler":
        return False
    return _edit(api, lambda role: without_lease(role["rules"], name), gone=name)


def allowed_leases(api: Api) -> set[str]:
    """Return the names of the leases that system:kube-scheduler may use."""
    return {name for group, resource, name, _ in grants(_role(api)) if name and _is_lease(group, resource)}


def _is_lease(group: str, resource: str) -> bool:
    return (group, resource) == ("coordination.k8s.io", "leases")


def _role(api: Api) -> Object:
    role = api.get(KIND, ROLE)
    if role is None:
        raise ApiError(f"the cluster has the ClusterRole {ROLE}", seen="it does not exist")
    return role


def _edit(api: Api, change: Callable[[Object], list[dict[str, Any]]], *, gone: str) -> bool:
    """Edit the rules so that at most what is about the lease ``gone`` is lost; return whether there was a change."""
    edits = tenacity.Retrying(
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, Refused) and error.code == HTTPStatus.CONFLICT
        ),
        stop=tenacity.stop_after_attempt(EDITS),
        reraise=True,
    )
    for attempt in edits:
        with attempt:
            before = _role(api)
            rules = change(before)
            if rules == before["rules"]:
                return False
            kept = {grant for grant in grants(before) if not gone or grant[2] != gone}
            lost = kept - grants({"rules": rules})
            if lost:
                raise ApiError(f"the edit of {ROLE} takes no right away", seen=f"it would take away {sorted(lost)[:3]}")
            # With the resourceVersion, an edit by somebody else in between is a conflict instead of a loss.
            version = before["metadata"]["resourceVersion"]
            api.patch(KIND, ROLE, {"metadata": {"resourceVersion": version}, "rules": rules})
    return True


def _changed(rules: Sequence[dict[str, Any]], *, add: str = "", remove: str = "") -> list[dict[str, Any]]:
    changed = copy.deepcopy(list(rules))
    for rule in changed:
        names = rule.get("resourceNames") or []
        if "leases" not in (rule.get("resources") or []) or "kube-scheduler" not in names:
            continue
        rule["resourceNames"] = [name for name in names if name != remove] + ([add] if add and add not in names else [])
    return changed
