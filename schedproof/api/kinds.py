"""Where a kind lives in the API: ``Pod`` and ``apps/v1/Deployment`` become paths.

Which resource serves a kind, and whether it is namespaced, is asked from the API server itself, once a process for
each group and version (about 3 ms), so that kinds of a CustomResourceDefinition work like any other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote

from schedproof.api.refusals import Object, Refused
from schedproof.errors import ApiError, UsageError

_HOMES = {
    "apps/v1": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "batch/v1": "CronJob Job",
    "coordination.k8s.io/v1": "Lease",
    "policy/v1": "PodDisruptionBudget",
    "rbac.authorization.k8s.io/v1": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io/v1": "PriorityClass",
    "storage.k8s.io/v1": "CSIDriver CSINode StorageClass VolumeAttachment",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "APIService",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
}
HOMES = {kind: version for version, kinds in _HOMES.items() for kind in kinds.split()}
"""Kinds outside the core group that may be written without their group."""


@dataclass(frozen=True)
class Resource:
    """A kind's place in the API."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of one object, or without a name of a collection; ignores a namespace that has no meaning."""
        parts = [root(self.api_version)]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        if name:
            parts.append(quote(name, safe=":"))
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


def root(api_version: str) -> str:
    """Return the path under which a group's version is served."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def split(kind: str) -> tuple[str, str]:
    """Return apiVersion and kind of ``Pod``, ``v1/Pod``, ``Deployment`` or ``apps/v1/Deployment``."""
    api_version, _, bare = kind.rpartition("/")
    return api_version or HOMES.get(bare, "v1"), bare


class Kinds:
    """Looks kinds up, and remembers."""

    def __init__(self, ask: Callable[[str], Object]) -> None:
        """Ask through ``ask(path)``, which returns the JSON answer."""
        self._ask = ask
        self._known: dict[tuple[str, str], Resource] = {}
        self._lock = threading.Lock()

    def find(self, kind: str) -> Resource:
        """Return where ``kind`` lives.

        Raises:
            UsageError: The API server serves no such kind.
        """
        wanted = split(kind)
        with self._lock:
            if wanted not in self._known:
                self._learn(wanted[0])
            found = self._known.get(wanted)
        if found is None:
            raise _unserved(wanted, sorted(bare for version, bare in self._known if version == wanted[0]))
        return found

    def _learn(self, api_version: str) -> None:
        try:
            answer = self._ask(root(api_version))
        except Refused as error:
            if error.code == HTTPStatus.NOT_FOUND:  # no such group or version
                return
            raise
        resources = answer.get("resources")
        if not isinstance(resources, list):
            raise ApiError(f"{root(api_version)} lists resources", seen=str(answer)[:300])
        for resource in resources:
            if "/" not in resource["name"]:
                found = Resource(api_version, resource["kind"], resource["name"], bool(resource["namespaced"]))
                self._known[api_version, found.kind] = found


def _unserved(wanted: tuple[str, str], served: list[str]) -> UsageError:
    api_version, kind = wanted
    return UsageError(
        f"the API server serves kind {kind} of {api_version}",
        seen=f"{api_version} has: {', '.join(served)}" if served else f"it serves no {api_version} at all",
        cure="check the spelling and the group (e.g. apps/v1/Deployment), or install its CustomResourceDefinition",
    )
