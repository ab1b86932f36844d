"""What the roles of a scheduler grant, right by right, and bundles that lack some of them."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedproof.deploy import bundle, rights_table, tasks
from schedproof.deploy.checks import SCHEDULER_ROLE, VOLUME_ROLE
from schedproof.deploy.roles import KIND
from schedproof.deploy.troubles import Trouble
from schedproof.errors import ApiError, ClaimFailed
from schedproof.watch.deadlines import Deadline

if TYPE_CHECKING:
    from schedproof.api import Api, Object

REFUSED = Deadline("REFUSED", 30, "twenty schedulers that start at once on two cores ask for their lists within 15 s")
READ = ("get", "list", "watch")
RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, order=True)
class Right:
    """One resource that may be read, or written.

    Attributes:
        group: API group; empty is the core group.
        resource: With its subresource, e.g. ``pods/binding``.
        name: The one object that it holds for; empty: all.
        writes: Whether these are the verbs that write.
        verbs: The verbs.
    """

    group: str
    resource: str
    name: str
    writes: bool
    verbs: tuple[str, ...]

    @property
    def id(self) -> str:
        """E.g. ``read storageclasses.storage.k8s.io`` or ``write leases.coordination.k8s.io kube-scheduler``."""
        return " ".join(filter(None, ["write" if self.writes else "read", self.where, self.name]))

    @property
    def where(self) -> str:
        """E.g. ``storageclasses.storage.k8s.io``."""
        return self.resource + (f".{self.group}" if self.group else "")


def of_roles(roles: Iterable[Object]) -> list[Right]:
    """Return the rights that roles grant together, each once: reading and writing a resource are two."""
    verbs: dict[tuple[str, str, str, bool], set[str]] = {}
    for role in roles:
        for rule in role.get("rules") or []:
            for group in rule.get("apiGroups") or []:
                for resource in rule.get("resources") or []:
                    for name in rule.get("resourceNames") or [""]:
                        for verb in rule.get("verbs") or []:
                            verbs.setdefault((group, resource, name, verb not in READ), set()).add(verb)
    return sorted(Right(*key, tuple(sorted(found))) for key, found in verbs.items())


def built_in(api: Api) -> list[Right]:
    """Return what the two built-in roles that our manifests bind grant in this cluster.

    Raises:
        ApiError: One of the roles is not there.
    """
    roles = [(name, api.get(KIND, name)) for name in (SCHEDULER_ROLE, VOLUME_ROLE)]
    for name, role in roles:
        if role is None:
            raise ApiError(f"the cluster has the ClusterRole {name}", seen="it does not exist")
    return of_roles(role for _, role in roles if role is not None)


def rules(rights: Sequence[Right]) -> list[Object]:
    """Return the rights as rules of a ClusterRole."""
    return [
        {
            "apiGroups": [right.group], "resources": [right.resource], "verbs": list(right.verbs),
            **({"resourceNames": [right.name]} if right.name else {}),
        }
        for right in rights
    ]  # fmt: skip


def with_role_of_its_own(objects: Sequence[Object], rights: Sequence[Right]) -> list[Object]:
    """Return the bundle with one ClusterRole of exactly these rights, in place of its bindings to the built-in ones."""
    built = (SCHEDULER_ROLE, VOLUME_ROLE)
    kept = [obj for obj in copy.deepcopy(list(objects)) if (obj.get("roleRef") or {}).get("name") not in built]
    workload = bundle.workload(kept)
    assert workload is not None  # noqa: S101 - a bundle without a workload has no identity to bind
    name, labels = workload["metadata"]["name"], workload["metadata"].get("labels") or {}
    account = {"kind": "ServiceAccount", "name": bundle.service_account(workload),
               "namespace": bundle.namespace(workload)}  # fmt: skip
    role = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name, "labels": dict(labels)},
            "rules": rules(rights)}  # fmt: skip
    binding = {"apiVersion": f"{RBAC}/v1", "kind": "ClusterRoleBinding",
               "metadata": {"name": name, "labels": dict(labels)}, "subjects": [account],
               "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}}  # fmt: skip
    return [role, binding, *kept]


def without(rights: Sequence[Right], ids: Collection[str]) -> list[Right]:
    """Return the rights but for these."""
    return [right for right in rights if right.id not in ids]


def bundle_with(objects: Sequence[Object], rights: Sequence[Right]) -> list[Object]:
    """Return the bundle with exactly these rights, small enough for many side by side, and a class of volumes."""
    made = with_role_of_its_own(objects, rights)
    workload = bundle.workload(made)
    assert workload is not None  # noqa: S101 - see above
    for box in bundle.containers(workload):
        box["resources"] = {"requests": {"cpu": "1m"}}
    return [*made, tasks.storage_class(bundle.served(made)[0], dict(workload["metadata"].get("labels") or {}))]


def missing(right: Right) -> Trouble:
    """Return the trouble of a scheduler that lacks just this right to read."""
    said = f"it may not list {right.where}; a rule or binding is missing"
    # What to do is to grant it, or to bind the built-in role that holds it.
    return Trouble(right.id, "", said, "what to do: *", lambda objects: objects)


def assert_all_known(rights: Iterable[Right]) -> None:
    """Assert that the table says of each right what it is for.

    Raises:
        ClaimFailed: It does not know one: another version of Kubernetes grants it.
    """
    unknown = [right for right in rights if right.id not in rights_table.known()]
    if unknown:
        raise ClaimFailed(
            "the table of rights knows every right of the built-in roles",
            seen="it does not know: " + "; ".join(f"{right.id} ({', '.join(right.verbs)})" for right in unknown),
            cure="find out what it is for and add it to schedproof/deploy/rights_table.py",
        )
