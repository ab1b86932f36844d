"""Ways in which a scheduler gets into trouble, each with the words in which its cause must be named.

The one table of fault and cause. Faults of one symptom look alike from outside, to ``kubectl get pods`` and to the
pod that waits; a cause that is named for one of them must not be named for another. Case ids are those of
``cases.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedproof.deploy import faults

if TYPE_CHECKING:
    from schedproof.api import Object

NO_POD, CRASHES, NO_IMAGE, BINDS_NOTHING = "no-pod", "crashes", "no-image", "binds-nothing"
SYMPTOMS = (NO_POD, CRASHES, NO_IMAGE, BINDS_NOTHING)
"""It has no Pod; its container starts and ends; its container never starts; it runs and binds nothing."""
NOT_READY = "not-ready"
"""It is not Ready, or not for long, and binds pods all the same."""

Break = Callable[[list["Object"]], list["Object"]]


@dataclass(frozen=True)
class Trouble:
    """One fault of a scheduler's bundle.

    Attributes:
        id: Short and stable, e.g. ``gone-flag``.
        symptom: One of :data:`SYMPTOMS`, or :data:`NOT_READY`.
        cause: What the named cause must say; ``*`` stands for anything.
        cure: What it must say is to be done; likewise.
        breaks: Breaks a copy of a bundle that works.
    """

    id: str
    symptom: str
    cause: str
    cure: str
    breaks: Break

    def named_in(self, said: str) -> bool:
        """Say whether a text names this cause."""
        return _stands_in(self.cause, said)

    def cure_named_in(self, said: str) -> bool:
        """Say whether a text names what to do."""
        return _stands_in(self.cure, said)


def of(symptom: str) -> list[Trouble]:
    """Return the troubles that have this symptom."""
    return [trouble for trouble in TROUBLES if trouble.symptom == symptom]


def siblings(trouble: Trouble) -> list[Trouble]:
    """Return the other troubles with the same symptom."""
    return [other for other in of(trouble.symptom) if other.id != trouble.id]


def by_id(name: str) -> Trouble:
    """Return the trouble of this id."""
    return next(trouble for trouble in TROUBLES if trouble.id == name)


def _stands_in(pattern: str, said: str) -> bool:
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.search(".*?".join(parts), " ".join(said.split())) is not None


NONE = Trouble("none", "", "", "", lambda objects: objects)
"""No trouble at all: the bundle as it is."""

TROUBLES: Sequence[Trouble] = (
    Trouble("scaled-to-0", NO_POD, "it is scaled to 0 replicas", "scale it up", faults.scaled_to_0),
    Trouble("no-service-account", NO_POD, "it refers to the ServiceAccount *, which does not exist",
            "add the ServiceAccount", faults.without_service_account),
    # Crash-looping: bad configuration (C1, C5), bad flag (C2), bad command (I4), what is not mounted (C3).
    Trouble("old-configuration", CRASHES, "reads no configuration of version kubescheduler.config.k8s.io/v1beta3",
            "write kubescheduler.config.k8s.io/v1", faults.with_old_configuration),
    Trouble("two-profiles-of-one-name", CRASHES, "it exits: profiles[1].schedulerName: Duplicate value",
            "name them differently", faults.with_one_profile_twice),
    Trouble("gone-flag", CRASHES, "this kube-scheduler has no flag --scheduler-name",
            "profiles[].schedulerName", faults.with_flag("--scheduler-name=my-scheduler")),
    Trouble("command-not-there", CRASHES, "its image has no program /usr/local/bin/kube-schedular",
            "correct the container's command", faults.with_program("/usr/local/bin/kube-schedular")),
    Trouble("configuration-not-mounted", CRASHES, "it finds no file /etc/kubernetes/elsewhere.yaml",
            "mount it", faults.with_configuration_at("/etc/kubernetes/elsewhere.yaml")),
    Trouble("kubeconfig-not-mounted", CRASHES, "it finds no file /etc/kubernetes/scheduler.conf",
            "mount it", faults.with_kubeconfig("/etc/kubernetes/scheduler.conf")),
    # I2.
    Trouble("image-not-loaded", NO_IMAGE, "is not on the node *, and cannot be pulled",
            "load it into the nodes", faults.with_image_policy("IfNotPresent", tag="not-loaded")),
    Trouble("image-never-pulled", NO_IMAGE, "is not on the node *, and imagePullPolicy Never forbids",
            "load it into the nodes", faults.with_image_policy("Never", tag="not-loaded")),
    Trouble("image-always-pulled", NO_IMAGE, "imagePullPolicy Always: the node pulls it although it was loaded",
            "imagePullPolicy: IfNotPresent", faults.with_image_policy("Always")),
    Trouble("no-config-map", NO_IMAGE, "it refers to the ConfigMap *, which does not exist",
            "add the ConfigMap", faults.without_config_map),
    # R1, R3, R4, L3, L1, another's lease, C8.
    Trouble("not-synced", BINDS_NOTHING,
            "it may not list storageclasses.storage.k8s.io; a rule or binding is missing",
            "to the ClusterRole system:volume-scheduler", faults.without_binding_to("system:volume-scheduler")),
    Trouble("dangling-binding", BINDS_NOTHING,
            "refers to the ClusterRole system:volume-schedulers, which does not exist",
            "correct the roleRef", faults.with_dangling_binding),
    Trouble("default-account", BINDS_NOTHING, "it has no serviceAccountName, so it runs as the ServiceAccount default",
            "set serviceAccountName in its pod template", faults.with_default_account),
    Trouble("lease-forbidden", BINDS_NOTHING, "may not get leases.coordination.k8s.io in kube-system; a rule or "
            "binding is missing: it never becomes leader", "grant *leases", faults.with_own_lease),
    Trouble("default-lease", BINDS_NOTHING, "it elects its leader with the default scheduler's lease",
            "leaderElect: false, or resourceName", faults.with_default_lease),
    Trouble("standby", BINDS_NOTHING, "it stands by: the lease kube-system/* is held by another-scheduler-0_",
            "a lease of its own", faults.with_lease_of_another),
    Trouble("wrong-name", BINDS_NOTHING, "no scheduler serves the name my-scheduler-*; served: my-custom-scheduler-*; "
            "did you mean my-custom-scheduler", "correct schedulerName", faults.with_another_profile),
    # E4.
    Trouble("liveness-probe-on-old-port", NOT_READY, "its livenessProbe asks by HTTP on port 10251",
            "scheme: HTTPS, port: 10259", faults.with_liveness_probe_on_old_port),
    Trouble("readiness-probe-on-old-port", NOT_READY, "its readinessProbe asks by HTTP on port 10251",
            "scheme: HTTPS, port: 10259", faults.with_readiness_probe_on_old_port),
)  # fmt: skip
