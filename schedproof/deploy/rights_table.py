"""Which right of the two built-in roles a second scheduler needs for what: the one table.

Written for Kubernetes 1.36 and 1.37, and proved right by right by the claims of e2e/trouble/test_rights.py. A right is
known by :attr:`schedproof.deploy.rights.Right.id`.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedproof.deploy import tasks

TO_START = frozenset(
    f"read {resource}"
    for resource in (
        "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods", "replicationcontrollers",
        "services", "replicasets.apps", "statefulsets.apps", "poddisruptionbudgets.policy",
        "deviceclasses.resource.k8s.io", "devicetaintrules.resource.k8s.io", "resourceclaims.resource.k8s.io",
        "resourceslices.resource.k8s.io", "csidrivers.storage.k8s.io", "csinodes.storage.k8s.io",
        "csistoragecapacities.storage.k8s.io", "storageclasses.storage.k8s.io", "volumeattachments.storage.k8s.io",
    )
)  # fmt: skip
"""Without one of these it waits for a list for ever: not synced, no pod is bound."""

TO_WORK: Mapping[str, tuple[str, ...]] = {
    "write pods/binding": (tasks.BINDS, tasks.TELLS),
    "write events.events.k8s.io": (tasks.TELLS,),
    "write pods/status": (tasks.EXPLAINS,),
    "write persistentvolumeclaims": (tasks.PLACES_VOLUMES,),
    "write tokenreviews.authentication.k8s.io": (tasks.AUTHENTICATES,),
    "write subjectaccessreviews.authorization.k8s.io": (tasks.AUTHENTICATES,),
}
"""Without one of these it works, but for the tasks beside it."""

NOT_NEEDED: Mapping[str, str] = {
    "write bindings": "a second address of pods/binding, which kube-scheduler does not use",
    "write events": "events of the core group; kube-scheduler writes those of events.k8s.io",
    "write pods": "it deletes pods only to preempt them (case N6)",
    "write pods/finalizers": "for resource claims of pods, which no claim here has",
    "write persistentvolumes": "for volumes that exist already and wait for a claim; here they are provisioned",
    "read replicasets.extensions": "an API group that is gone since 1.16",
    "read leases.coordination.k8s.io kube-scheduler": "the default scheduler's lease; ours elects nobody",
    "write leases.coordination.k8s.io kube-scheduler": "likewise",
    "write leases.coordination.k8s.io": "to make its lease; a single replica elects nobody (leaderElect: false)",
    "read leasecandidates.coordination.k8s.io": "for coordinated leader election, which is off by default",
    "write leasecandidates.coordination.k8s.io": "likewise",
    "write resourceclaims.resource.k8s.io": "for pods with resource claims, which no claim here has",
    "read resourceclaims/status.resource.k8s.io": "likewise",
    "write resourceclaims/status.resource.k8s.io": "likewise",
    "write resourceclaims/binding.resource.k8s.io": "likewise",
}
"""Without all of these together every task gets done; each with its reason."""


def known() -> set[str]:
    """Return every right that the table has."""
    return {*TO_START, *TO_WORK, *NOT_NEEDED}
