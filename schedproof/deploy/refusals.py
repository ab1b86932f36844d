"""What the API server refuses a scheduler, read from its log: which rules are missing, and what has to be granted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from schedproof.api.refusals import Rule, missing_rule

TOLD = 3
"""So many rules are told in full."""

_NO_ROLE = re.compile(r'RBAC: \[?(clusterrole|role)\.rbac\.authorization\.k8s\.io \\*"([^"\\]+)\\*" not found')
_KINDS = {"clusterrole": "ClusterRole", "role": "Role"}


def rules(log: str) -> list[Rule]:
    """Return the rules that a scheduler's log says are missing, each once, in the order in which they were missed.

    Left out is the ConfigMap ``extension-apiserver-authentication`` of kube-system: without it kube-scheduler warns,
    and schedules all the same (case R2).
    """
    found = (missing_rule(line) for line in log.splitlines() if "cannot" in line)
    each = {(rule.verb, rule.resource, rule.group, rule.namespace): rule for rule in reversed([*filter(None, found)])}
    wanted = [rule for rule in each.values() if (rule.resource, rule.namespace) != ("configmaps", "kube-system")]
    return wanted[::-1]


def cause(log: str) -> str:
    """Return in one sentence what the API server refuses a scheduler, and why; empty when it refuses nothing."""
    missing = rules(log)
    if not missing:
        return ""
    what = ", ".join(_words(rule) for rule in missing[:5])
    said = f"the API server refuses it: it may not {what}; {_why(missing, log)}"
    # Waiting for its lease it does nothing else.
    if any(rule.resource == "leases" for rule in missing):
        said += ": it never becomes leader, so it schedules nothing"
    return said


def cure(log: str, *, binding: str = "") -> str:
    """Return what to grant, as rules of a Role or ClusterRole; empty when nothing is refused.

    Args:
        log: The scheduler's log.
        binding: Which binding its manifests lack, if that is known: one instead of many rules.
    """
    missing = rules(log)
    if not missing:
        return ""
    if _is_default(missing[0]):
        return "set serviceAccountName in its pod template to a ServiceAccount that its bindings name"
    if role := _NO_ROLE.search(log):
        return f"correct the roleRef, or make the {_KINDS[role[1]]} {role[2]}"
    if binding:
        return binding
    more = f"; and {len(missing) - TOLD} more" if len(missing) > TOLD else ""
    return "grant " + "; ".join(map(str, missing[:TOLD])) + more


def _why(missing: Sequence[Rule], log: str) -> str:
    if _is_default(missing[0]):
        return "it has no serviceAccountName, so it runs as the ServiceAccount default, to which nothing is granted"
    if role := _NO_ROLE.search(log):
        return f"a binding refers to the {_KINDS[role[1]]} {role[2]}, which does not exist and so grants nothing"
    return "a rule or binding is missing"


def _is_default(rule: Rule) -> bool:
    return rule.user.startswith("system:serviceaccount:") and rule.user.endswith(":default")


def _words(rule: Rule) -> str:
    group = f".{rule.group}" if rule.group else ""
    return f"{rule.verb} {rule.resource}{group}" + (f" in {rule.namespace}" if rule.namespace else "")
