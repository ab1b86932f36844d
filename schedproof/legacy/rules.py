"""What an RBAC rule of the documents grants today: asked of the API server, as the account that it is granted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tenacity

from schedproof.api import Api
from schedproof.errors import ApiError, ClaimFailed

if TYPE_CHECKING:
    from schedproof.cluster.facts import Facts

GROUP = "rbac.authorization.k8s.io"
ACCOUNT = "old-scheduler"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
LEARN_SECONDS = 5.0
"""How long the API server may take to learn of a new binding; it takes milliseconds."""
CONTROL = "configmaps"
"""What our control rule lets the account get: once that is allowed, the rule beside it is known as well."""


class Granted:
    """An account of a namespace with one rule, and what it may do.

    Args:
        api: The cluster, as its administrator.
        facts: What is known of it.
        namespace: Where account, Role and lease are.
        rule: The rule.
    """

    def __init__(self, api: Api, facts: Facts, namespace: str, rule: dict[str, Any]) -> None:
        self.namespace, self.rule = namespace, rule
        user = f"system:serviceaccount:{namespace}:{ACCOUNT}"
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{namespace}", "system:authenticated"]
        self._as_account = Api(facts.kubeconfig, user=user, groups=groups)
        control = {"apiGroups": [""], "resources": [CONTROL], "verbs": ["get"]}
        meta = {"name": ACCOUNT, "namespace": namespace}
        role = {"apiGroup": GROUP, "kind": "Role", "name": ACCOUNT}
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}
        api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": dict(meta)})
        api.create({"apiVersion": f"{GROUP}/v1", "kind": "Role", "metadata": dict(meta), "rules": [control, rule]})
        api.create(
            {"apiVersion": f"{GROUP}/v1", "kind": "RoleBinding", "metadata": dict(meta), "roleRef": role,
             "subjects": [subject]}
        )  # fmt: skip
        self._wait_until_known()

    def allowed(self, verb: str, resource: str, group: str = "", name: str = "") -> bool:
        """Return whether the account may do something in the namespace, as the API server says itself."""
        asked = {"namespace": self.namespace, "verb": verb, "group": group, "resource": resource, "name": name}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        return bool(self._as_account.post_raw(REVIEWS, review)["status"]["allowed"])

    def _wait_until_known(self) -> None:
        asking = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda allowed: not allowed),
            stop=tenacity.stop_after_delay(LEARN_SECONDS),
            wait=tenacity.wait_fixed(0.05),
        )
        try:
            asking(lambda: self.allowed("get", CONTROL))
        except tenacity.RetryError as error:
            raise ApiError(
                f"the API server knows the Role {ACCOUNT} within {LEARN_SECONDS:.0f} s", seen="it does not"
            ) from error


def assert_grants_no_lease(granted: Granted, lease: str) -> None:
    """Assert that a rule lets a scheduler neither read nor renew the lease that it would lead by.

    Raises:
        ClaimFailed: It may.
    """
    may = [verb for verb in ("get", "update") if granted.allowed(verb, "leases", "coordination.k8s.io", lease)]
    if may:
        raise ClaimFailed(
            f"the rule {granted.rule} grants nothing on the lease {lease}",
            seen=f"it grants {', '.join(may)}",
            cause="it is today's rule: leases of coordination.k8s.io",
        )


def assert_grants(
    granted: Granted, verb: str, resource: str, *, group: str = "", name: str = "", allowed: bool
) -> None:
    """Assert whether a rule grants something else.

    Raises:
        ClaimFailed: The API server says otherwise.
    """
    if granted.allowed(verb, resource, group, name) != allowed:
        what = f"{verb} {resource}{'.' + group if group else ''} {name}".strip()
        raise ClaimFailed(
            f"the rule {granted.rule} {'grants' if allowed else 'does not grant'}: {what}",
            seen=f"it {'does not' if allowed else 'does'}",
            cause="the rule is another one",
        )
