"""The document's edit of a role: what the rule for endpoints, and names below apiGroups, grant today."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schedproof.legacy.rules import Granted, assert_grants, assert_grants_no_lease

if TYPE_CHECKING:
    from fixtures.inputs import Manifests
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts

VERBS = ["delete", "patch", "update"]
AS_MEANT = {"apiGroups": [""], "resources": ["endpoints"], "resourceNames": ["my-scheduler"], "verbs": VERBS}
AS_PRINTED = {"apiGroups": ["", "kube-scheduler", "my-scheduler"], "resources": ["endpoints"], "verbs": VERBS}


@pytest.mark.parametrize("rule", [AS_MEANT, AS_PRINTED], ids=["as-meant", "as-printed"])
@pytest.mark.claim("endpoints-rule", lines=["A-35", "A-40"])
def test_rule_for_endpoints_grants_nothing_on_the_lease(
    api: Api, facts: Facts, namespace: str, manifests: Manifests, rule: dict[str, Any]
) -> None:
    """The document's rule for endpoints, as meant and as printed, grants nothing on the scheduler's lease."""
    granted = Granted(api, facts, namespace, manifests.input("rule", rule))

    assert_grants_no_lease(granted, "my-scheduler")
    assert_grants(granted, "update", "endpoints", name="my-scheduler", allowed=True)


@pytest.mark.claim("names-below-api-groups", lines=["A-39"])
def test_names_below_api_groups_limit_nothing_and_grant_nothing_but_in_groups_of_those_names(
    api: Api, facts: Facts, namespace: str, manifests: Manifests
) -> None:
    """Names below apiGroups grant something in API groups of those names, and limit the rule to no object."""
    granted = Granted(api, facts, namespace, manifests.input("rule", AS_PRINTED))

    assert_grants(granted, "update", "endpoints", group="my-scheduler", name="any", allowed=True)
    assert_grants(granted, "update", "endpoints", name="somebody-elses", allowed=True)
    assert_grants(granted, "update", "endpoints", group="discovery.k8s.io", name="my-scheduler", allowed=False)
