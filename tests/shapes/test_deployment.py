"""A second scheduler's life against a pretended cluster: deployed, waited for, killed, scaled, taken away."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from schedproof import data
from schedproof.api import Event, Refused
from schedproof.cluster.facts import Facts
from schedproof.deploy import bundle, roles
from schedproof.deploy.manifests import load, renamed
from schedproof.deploy.rollout import ROLLED
from schedproof.errors import ApiError, ImageError, Unreachable, UsageError, WaitTimeout
from schedproof.shapes.deployment import Deployment
from schedproof.watch.deadlines import Deadline

Object = dict[str, Any]
SOON = Deadline("SOON", 0.3, "a self-test's")
FACTS = Facts(
    name="trial", kubeconfig=Path("k"), kind=None, kubectl=Path("kubectl"), kubernetes="v1.37.2", node_image="node",
    control_planes=("c",), workers=("w",), pause_image="pause", scheduler_image="s:1", scheduler_image_id="sha256:aaa",
    scheduler_version="v1.37.2",
)  # fmt: skip
BUNDLE = renamed(load(data.manifests("kubernetes", "second-scheduler")), name="red", image="s:1")
ELECTING = bundle.with_config(
    BUNDLE,
    {
        "kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1",
        "profiles": [{"schedulerName": "red"}], "leaderElection": {"leaderElect": True, "resourceName": "red"},
    },
)  # fmt: skip


class Cluster:
    """Objects by (kind, namespace, name); each watch plays the next step of a script."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.steps: Iterator[Callable[[], None]] = iter(())
        self.log = "I1201 15:59:50.1 1 server.go:1] started\n"
        self.deleted: list[str] = []
        self.down = False
        self._uids = itertools.count()
        self.put({"kind": "ClusterRole", "metadata": {"name": "system:volume-scheduler"}})
        self.put({
            "kind": "ClusterRole", "metadata": {"name": roles.ROLE, "resourceVersion": "1"},
            "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"],
                       "resourceNames": ["kube-scheduler"]}],
        })  # fmt: skip

    def put(self, obj: Object) -> Object:
        obj = copy.deepcopy(obj)
        obj["metadata"].setdefault("uid", f"uid-{next(self._uids)}")
        self.objects[obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]] = obj
        return obj

    def pod(self, name: str = "red-1", *, ready: bool = True, **status: Any) -> Object:
        """Put a Pod of the Deployment as it is applied now."""
        labels = self.objects["Deployment", "kube-system", "red"]["spec"]["template"]["metadata"]["labels"]
        return self.put({
            "kind": "Pod", "metadata": {"name": name, "namespace": "kube-system", "labels": labels},
            "spec": {"nodeName": "w"},
            "status": {
                "phase": "Running", "conditions": [{"type": "Ready", "status": str(ready)}],
                "containerStatuses": [{"name": "kube-second-scheduler", "imageID": "sha256:aaa", "state": {}}],
            } | status,
        })  # fmt: skip

    def rolled_out(self, replicas: int = 1) -> None:
        """Give the Deployment the status of a finished rollout."""
        status = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas"), replicas)
        self.objects["Deployment", "kube-system", "red"]["status"] = status

    def remove(self, kind: str, name: str) -> None:
        self.objects.pop((kind, "kube-system", name), None)

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        self._answer()
        return copy.deepcopy(self.objects.get((kind.rpartition("/")[2], namespace, name)))

    def list(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = "", patience: float = 0
    ) -> tuple[list[Object], str]:
        del patience
        self._answer()
        wanted = dict(pair.split("=") for pair in labels.split(",") if pair)
        name = fields.removeprefix("metadata.name=")
        return [
            copy.deepcopy(obj)
            for (one, where, called), obj in self.objects.items()
            if (one, where) == (kind.rpartition("/")[2], namespace) and name in ("", called)
            and wanted.items() <= (obj["metadata"].get("labels") or {}).items()
        ], "1"  # fmt: skip

    def watch(self, kind: str, namespace: str = "", *, labels: str = "", fields: str = "", **_: Any) -> Iterator[Event]:
        for step in self.steps:
            before = {
                obj["metadata"]["uid"]: obj for obj in self.list(kind, namespace, labels=labels, fields=fields)[0]
            }
            step()
            after = {obj["metadata"]["uid"]: obj for obj in self.list(kind, namespace, labels=labels, fields=fields)[0]}
            for uid, obj in (before | after).items():
                obj["metadata"]["resourceVersion"] = "2"
                yield Event("MODIFIED" if uid in after else "DELETED", obj)

    def apply(self, obj: Object) -> Object:
        self._answer()
        return self.put(obj)

    def patch(self, kind: str, name: str, change: Object, namespace: str = "") -> Object:
        obj = self.objects[kind.rpartition("/")[2], namespace, name]
        if "rules" in change:
            obj["rules"] = change["rules"]
        else:
            obj["spec"]["replicas"] = change["spec"]["replicas"]
        return obj

    def delete(self, kind: str, name: str, namespace: str = "", *, grace: int | None = None) -> bool:
        self.deleted.append(f"{kind.rpartition('/')[2]}/{name}" + ("" if grace is None else f" grace={grace}"))
        return self.objects.pop((kind.rpartition("/")[2], namespace, name), None) is not None

    def logs(self, pod: str, namespace: str, *, previous: bool = False, **_: Any) -> str:
        if previous:
            raise Refused(f"GET log of {namespace}/{pod}", 400, "previous terminated container not found")
        return self.log

    def _answer(self) -> None:
        if self.down:
            raise ApiError("the API server answers", seen="connection refused")


@pytest.fixture
def cluster() -> Any:
    return Cluster()


def deployed(cluster: Any, objects: list[Object] | None = None, name: str = "") -> Deployment:
    return Deployment(cluster, FACTS, objects or BUNDLE, name).deploy()


def test_a_scheduler_knows_name_identity_and_labels(cluster: Any) -> None:
    scheduler = Deployment(cluster, FACTS, BUNDLE)
    assert (scheduler.name, scheduler.served) == ("red", ("red",))
    assert scheduler.identity == "system:serviceaccount:kube-system:red"
    assert scheduler.selector == "app.kubernetes.io/name=red"


def test_a_bundle_without_deployment_is_refused(cluster: Any) -> None:
    with pytest.raises(UsageError, match="hold a Deployment"):
        Deployment(cluster, FACTS, BUNDLE[:-1])


def test_deploying_applies_every_object_and_marks_the_pods(cluster: Any) -> None:
    deployed(cluster)
    for obj in BUNDLE:
        assert (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]) in cluster.objects
    template = cluster.objects["Deployment", "kube-system", "red"]["spec"]["template"]
    assert template["metadata"]["labels"][ROLLED]


def test_a_new_configuration_rolls_the_pods(cluster: Any) -> None:
    one, other = (Deployment(cluster, FACTS, objects) for objects in (BUNDLE, ELECTING))
    mark = [scheduler.objects[-1]["spec"]["template"]["metadata"]["labels"][ROLLED] for scheduler in (one, other)]
    assert mark[0] != mark[1]


def test_a_rival_of_the_default_scheduler_is_deployed_only_when_that_is_asked_for(cluster: Any) -> None:
    rival = bundle.with_config(BUNDLE, {"kind": "KubeSchedulerConfiguration", "profiles": []})
    with pytest.raises(UsageError, match="default-scheduler"):
        deployed(cluster, rival)
    assert ("Deployment", "kube-system", "red") not in cluster.objects
    Deployment(cluster, FACTS, rival).deploy(allow_rival=True)
    assert ("Deployment", "kube-system", "red") in cluster.objects


def test_what_was_refused_is_not_there_to_be_removed_and_what_failed_half_way_is(cluster: Any) -> None:
    refused = Deployment(cluster, FACTS, [*BUNDLE, {"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1",
                                                   "metadata": {"name": roles.ROLE}}])  # fmt: skip
    with pytest.raises(UsageError, match="the system's own role"):
        refused.deploy()
    assert not refused.deployed
    failing = Deployment(cluster, FACTS, BUNDLE)
    cluster.apply = lambda _: 1 / 0
    with pytest.raises(ZeroDivisionError):
        failing.deploy()
    assert failing.deployed


def test_somebody_elses_deployment_of_the_name_is_left_alone(cluster: Any) -> None:
    theirs = copy.deepcopy(bundle.workload(BUNDLE))
    cluster.put(theirs)
    scheduler = Deployment(cluster, FACTS, BUNDLE)
    with pytest.raises(UsageError, match="somebody else made it"):
        scheduler.deploy()
    assert not scheduler.deployed
    cluster.remove("Deployment", "red")
    scheduler.deploy()
    Deployment(cluster, FACTS, BUNDLE).deploy()  # left by a run of ours that was killed


def test_ready_is_a_finished_rollout_with_the_image_under_test(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.steps = iter([lambda: cluster.pod(ready=False), cluster.pod, cluster.rolled_out])
    scheduler.wait_until_ready(SOON)
    assert next(cluster.steps, None) is None


def test_pods_of_an_earlier_configuration_do_not_count_as_ready(cluster: Any) -> None:
    deployed(cluster)
    cluster.pod()
    cluster.rolled_out()
    later = deployed(cluster, ELECTING)
    with pytest.raises(WaitTimeout, match="1 of 1 pods Ready"):
        later.wait_until_ready(SOON)


def test_another_image_under_the_same_tag_is_an_image_error(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.pod(containerStatuses=[{"name": "kube-second-scheduler", "imageID": "sha256:bbb"}])
    cluster.rolled_out()
    with pytest.raises(ImageError, match="sha256:bbb"):
        scheduler.wait_until_ready(SOON)


def test_a_crash_ends_the_wait_at_once_with_what_was_said(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.log = "Error: unknown flag: --port\n"
    cluster.pod(
        ready=False,
        containerStatuses=[{
            "name": "kube-second-scheduler", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            "lastState": {"terminated": {"exitCode": 1, "message": cluster.log}},
        }],
    )  # fmt: skip
    with pytest.raises(Unreachable) as caught:
        scheduler.wait_until_ready()
    said = str(caught.value)
    assert "CrashLoopBackOff: Error: unknown flag: --port" in said
    assert "likely cause: this kube-scheduler has no flag --port; today it is --secure-port" in said
    assert len(said.splitlines()) <= 25


def test_a_missing_config_map_ends_the_wait_before_it_begins(cluster: Any) -> None:
    scheduler = deployed(cluster, [obj for obj in BUNDLE if obj["kind"] != "ConfigMap"], "red-name")
    cluster.remove("ConfigMap", "red-config")
    with pytest.raises(Unreachable, match="the ConfigMap red-config, which does not exist"):
        scheduler.wait_until_ready()


def test_a_time_out_tells_the_schedulers_state_and_the_missing_rule(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.log = (
        'E1201 15:59:50.1 1 reflector.go:1] err="User \\"u\\" cannot list resource \\"pods\\" in API group \\"\\" at"\n'
        * 5
    )
    cluster.pod(ready=False)
    with pytest.raises(WaitTimeout) as caught:
        scheduler.wait_until_ready(SOON)
    assert "SOON" in str(caught.value)
    assert str(caught.value).count('cannot list resource "pods"') == 1
    assert "it may not list pods; a rule or binding is missing" in str(caught.value)
    assert 'what to do: grant apiGroups: [""], resources: ["pods"], verbs: ["list"] for u' in str(caught.value)


def test_scaling_to_nothing_waits_until_the_last_pod_is_gone(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.pod("red-1")
    cluster.pod("red-2")
    gone = [lambda: cluster.remove("Pod", "red-1"), lambda: cluster.remove("Pod", "red-2")]
    cluster.steps = iter(gone)
    assert scheduler.stop() > 0
    assert scheduler.pods() == []
    assert scheduler.cause() == "it is scaled to 0 replicas\nwhat to do: scale it up"


def test_scaling_up_waits_until_all_are_ready(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.steps = iter([lambda: cluster.pod("red-1"), lambda: cluster.pod("red-2"), lambda: cluster.rolled_out(2)])
    scheduler.scale(2)
    assert len(scheduler.pods()) == 2


def test_killing_the_pod_waits_for_another_one(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.pod("red-1")
    cluster.steps = iter([lambda: cluster.pod("red-2", ready=False)])
    assert scheduler.kill_pod(SOON) == "red-1"
    assert cluster.deleted == ["Pod/red-1 grace=1"]
    assert [pod["metadata"]["name"] for pod in scheduler.pods()] == ["red-2"]


def test_killing_nothing_says_why_there_is_no_pod(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.objects["Deployment", "kube-system", "red"]["status"] = {
        "conditions": [{"type": "ReplicaFailure", "message": "exceeded quota"}]
    }
    with pytest.raises(ApiError, match="its Pod cannot be created: exceeded quota"):
        scheduler.kill_pod(SOON)


def test_uninstalling_takes_objects_lease_and_role_edit_away_and_the_workload_first(cluster: Any) -> None:
    before = set(cluster.objects)
    scheduler = deployed(cluster, ELECTING)
    scheduler.allow_lease()
    cluster.put({"kind": "Lease", "metadata": {"name": "red", "namespace": "kube-system"}})
    assert "red in ClusterRole/system:kube-scheduler" in scheduler.left()
    scheduler.uninstall()
    assert set(cluster.objects) == before
    assert cluster.objects["ClusterRole", "", roles.ROLE]["rules"][0]["resourceNames"] == ["kube-scheduler"]
    assert cluster.deleted[0] == "Deployment/red"
    assert scheduler.left() == []
    scheduler.uninstall()


def test_uninstalling_never_deletes_the_default_schedulers_lease(cluster: Any) -> None:
    standby = bundle.with_config(BUNDLE, {"kind": "KubeSchedulerConfiguration", "profiles": [{"schedulerName": "red"}]})
    cluster.put({"kind": "Lease", "metadata": {"name": "kube-scheduler", "namespace": "kube-system"}})
    deployed(cluster, standby).uninstall()
    assert ("Lease", "kube-system", "kube-scheduler") in cluster.objects


def test_what_is_left_is_named(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduler = deployed(cluster)
    delete = cluster.delete
    monkeypatch.setattr(cluster, "delete", lambda kind, *args: "ClusterRole" in kind or delete(kind, *args))
    with pytest.raises(ApiError, match="ClusterRoleBinding/red-as-kube-scheduler") as caught:
        scheduler.uninstall()
    assert caught.value.category == "harness"


def test_the_state_is_short_and_tells_pod_log_and_cause(cluster: Any) -> None:
    scheduler = deployed(cluster, name="rod")
    cluster.pod()
    lines = scheduler.state().splitlines()
    assert len(lines) <= 8
    assert "serves red" in lines[0]
    assert "Pod red-1, on w, Running, ready, 0 restarts" in lines[1]
    assert lines[2] == "log: started"
    assert lines[-2] == "cause: no scheduler serves the name rod; served: red; did you mean red?"
    assert lines[-1].startswith("what to do: correct schedulerName in the pods")


def test_the_state_of_an_unreachable_cluster_is_no_error(cluster: Any) -> None:
    scheduler = deployed(cluster)
    cluster.down = True
    assert "its state could not be read: connection refused" in scheduler.state()


def test_two_schedulers_objects_are_each_their_own(cluster: Any) -> None:
    red = deployed(cluster)
    blue = deployed(cluster, renamed(BUNDLE, name="blue", namespace="other"))
    red.uninstall()
    assert blue.identity == "system:serviceaccount:other:blue"
    assert len(blue.left()) == len(BUNDLE)
