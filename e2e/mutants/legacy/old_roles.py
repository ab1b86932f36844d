"""Mutants of test_old_roles.py."""

from __future__ import annotations

from typing import Any

from schedproof.mutants import mutant


@mutant(
    claim="endpoints-rule",
    input="rule",
    fault="the rule is today's: leases in coordination.k8s.io",
    expect="grants nothing on the lease my-scheduler * it grants update",
)
def rule_of_today(rule: dict[str, Any]) -> None:
    rule |= {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": ["my-scheduler"]}


@mutant(
    claim="endpoints-rule",
    input="rule",
    fault="a rule for everything is put in its place, and hides that the lease is not in the document's",
    expect="grants nothing on the lease my-scheduler * it grants get, update",
)
def rule_for_everything(rule: dict[str, Any]) -> dict[str, Any]:
    return {field: ["*"] for field in rule if field != "resourceNames"}


@mutant(
    claim="names-below-api-groups",
    input="rule",
    fault="the names stand below resourceNames, where they belong",
    expect="grants: update endpoints.my-scheduler any * it does not",
)
def names_where_they_belong(rule: dict[str, Any]) -> None:
    rule |= {"apiGroups": [""], "resourceNames": ["kube-scheduler", "my-scheduler"]}


@mutant(
    claim="names-below-api-groups",
    input="rule",
    fault="both at once: below apiGroups and below resourceNames",
    expect="grants: update endpoints somebody-elses * it does not",
)
def names_in_both_places(rule: dict[str, Any]) -> None:
    rule |= {"apiGroups": ["", "my-scheduler"], "resourceNames": ["my-scheduler", "any"]}
