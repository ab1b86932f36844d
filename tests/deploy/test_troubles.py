"""The table of troubles: each fault breaks a bundle, and no cause is taken for another's."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from schedproof import data
from schedproof.deploy import bundle, causes, checks, troubles
from schedproof.deploy.manifests import load, renamed
from schedproof.deploy.naming import assert_cause_named, assert_no_cause_named
from schedproof.deploy.troubles import Trouble
from schedproof.errors import ClaimFailed
from schedproof.watch.deadlines import Deadline

SOUND = renamed(load(data.manifests("kubernetes", "second-scheduler")), name="my-scheduler-1", image="s:1")
NOW = Deadline("NOW", 0.1, "a self-test's")
FORBIDDEN = (
    'E1 x.go:1] "x" err="storageclasses.storage.k8s.io is forbidden: User \\"system:serviceaccount:kube-system:{}\\" '
    'cannot list resource \\"storageclasses\\" in API group \\"storage.k8s.io\\" at the cluster scope{}"'
)
NO_ROLE = ': RBAC: clusterrole.rbac.authorization.k8s.io \\"system:volume-schedulers\\" not found'
EXIT = 'E1204 04:17:07.1 1 run.go:72] "command failed" err="{}: no such file or directory"'

SAID = {
    "gone-flag": "unknown flag: --scheduler-name",
    "configuration-not-mounted": EXIT.format("open /etc/kubernetes/elsewhere.yaml"),
    "kubeconfig-not-mounted": EXIT.format("invalid configuration: stat /etc/kubernetes/scheduler.conf"),
    "two-profiles-of-one-name": '"command failed" err="profiles[1].schedulerName: Duplicate value: {}"',
    "command-not-there": 'exec: "/usr/local/bin/kube-schedular": stat /usr/local/bin/kube-schedular: no such file',
    "not-synced": FORBIDDEN.format("my-scheduler", ""),
    "dangling-binding": FORBIDDEN.format("my-scheduler", NO_ROLE),
    "default-account": FORBIDDEN.format("default", ""),
    "liveness-probe-on-old-port": '"command failed" err="finished without leader elect"',
}
"""What such a scheduler's log says, shortened; the others say nothing."""


def pods_of(trouble: Trouble) -> list[dict[str, Any]]:
    """Return the Pods as they are in that trouble."""
    if trouble.symptom == troubles.NO_POD:
        return []
    pod: dict[str, Any] = {
        "metadata": {"name": "p", "namespace": "kube-system"},
        "spec": {"nodeName": "w", "containers": [{"name": "c", "image": "s:not-loaded"}]},
        "status": {"containerStatuses": [{"name": "c", "state": {"running": {}}}]},
    }
    waits = {"image-not-loaded": "ErrImagePull", "image-never-pulled": "ErrImageNeverPull"}.get(trouble.id)
    if waits:
        pod["status"]["containerStatuses"][0]["state"] = {"waiting": {"reason": waits, "message": "so it is"}}
    return [pod]


def named(trouble: Trouble) -> str:
    """Return the cause that is named for a bundle in that trouble."""
    broken = trouble.breaks(copy.deepcopy(SOUND))
    replicas = (bundle.workload(broken) or {})["spec"]["replicas"]
    standby = (
        "it stands by: the lease kube-system/x is held by another-scheduler-0_1" if trouble.id == "standby" else ""
    )
    log = SAID.get(trouble.id, "")
    said = causes.likely(pods_of(trouble), log, checks.findings(broken), wanted=replicas, standby=standby)
    return said or causes.with_cure(causes.unserved("my-scheduler-1", bundle.served(broken)), causes.RENAME)


# These two are named by words of the cluster that only a cluster says: see e2e/trouble.
TOLD = [one for one in troubles.TROUBLES if one.id not in ("old-configuration", "lease-forbidden")]


@pytest.mark.parametrize("trouble", TOLD, ids=lambda trouble: trouble.id)
def test_a_trouble_is_named_with_its_cure_and_no_other_of_its_symptom(trouble: Trouble) -> None:
    said = named(trouble)
    assert trouble.named_in(said), said
    assert trouble.cure_named_in(said), said
    assert [other.id for other in troubles.siblings(trouble) if other.named_in(said)] == []


@pytest.mark.parametrize("trouble", troubles.TROUBLES, ids=lambda trouble: trouble.id)
def test_a_fault_breaks_a_copy(trouble: Trouble) -> None:
    before = copy.deepcopy(SOUND)
    assert trouble.breaks(SOUND) != before
    assert before == SOUND


def test_ids_are_unique_and_every_symptom_has_at_least_two_troubles() -> None:
    ids = [trouble.id for trouble in troubles.TROUBLES]
    assert len(ids) == len(set(ids))
    for symptom in (*troubles.SYMPTOMS, troubles.NOT_READY):
        assert len(troubles.of(symptom)) > 1


def test_a_sound_bundle_that_was_told_to_end_has_no_cause() -> None:
    assert causes.likely(pods_of(troubles.NONE), SAID["liveness-probe-on-old-port"], checks.findings(SOUND)) == ""


class Sick:
    """Says a cause."""

    name = "x"

    def __init__(self, said: str) -> None:
        self.cause = lambda: said
        self.state = lambda: "sick"


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("", "named is none"),
        ("it has no Pod", "named is another"),
        ("it refers to the ServiceAccount x, which does not exist", "named is no-service-account"),
        ("it is scaled to 0 replicas", "and what to do: scale it up"),
    ],
)
def test_another_cause_or_none_or_one_without_a_cure_fails_the_claim(said: str, seen: str) -> None:
    sick: Any = Sick(said)
    with pytest.raises(ClaimFailed) as caught:
        assert_cause_named(sick, troubles.by_id("scaled-to-0"), deadline=NOW)
    assert seen in str(caught.value)


def test_the_right_cause_passes_and_a_healthy_scheduler_has_none() -> None:
    sick: Any = Sick("it is scaled to 0 replicas\nwhat to do: scale it up")
    assert_cause_named(sick, troubles.by_id("scaled-to-0"), deadline=NOW)
    with pytest.raises(ClaimFailed, match="no cause is named"):
        assert_no_cause_named(sick)
    healthy: Any = Sick("")
    assert_no_cause_named(healthy)
