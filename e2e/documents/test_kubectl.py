"""What the documents type: kubectl create, get pods, version; kubectl's words are the claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from schedproof.shapes.created import Created
from schedproof.typed import (
    assert_listed_running,
    assert_refused,
    assert_tells_nothing_of,
    assert_typed,
    assert_versions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts

ASKED = {"pod1": "default-scheduler", "pod2": "default-scheduler", "pod3": "my-scheduler"}


@pytest.mark.parametrize("name", list(ASKED))
@pytest.mark.claim("kubectl-create-pod", lines=["A-45", "A-48", "A-51", "B-43"])
def test_kubectl_create_submits_a_pod_once(
    facts: Facts, manifests: Manifests, pods: ClaimPods, tmp_path: Path, name: str
) -> None:
    """`kubectl create -f podN.yaml` submits the pod, once: the second time it is refused, `kubectl apply` is not."""
    pod = manifests.pod(name, input="pod")
    file = tmp_path / f"{name}.yaml"
    file.write_text(manifests.input("text", yaml.safe_dump(pod)), encoding="utf-8")

    assert_typed(facts, "create", "-f", file)

    submitted = pods.get(pod["metadata"]["name"])
    assert submitted is not None
    assert submitted.scheduler == ASKED[name]
    assert_refused(facts, "create", "-f", file, saying="AlreadyExists")
    assert_typed(facts, "apply", "-f", file)


@pytest.mark.claim("kubectl-create-scheduler", lines=["A-20", "A-26", "A-27"])
def test_kubectl_create_makes_the_scheduler_of_one_file(
    api: Api,
    facts: Facts,
    manifests: Manifests,
    pods: ClaimPods,
    schedulers: Schedulers,
    binder: Judge,
    tmp_path: Path,
) -> None:
    """`kubectl create -f my-scheduler.yaml` makes the scheduler, once; `kubectl apply -f` also the second time."""
    second = schedulers.hold(Created(api, facts, manifests.scheduler(), tmp_path / "my-scheduler.yaml"))
    second.deploy().wait_until_ready()

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=second.name))
    binder.assert_bound_by(pod3, second)

    assert_refused(facts, "create", "-f", second.file, saying="AlreadyExists")
    assert_typed(facts, "apply", "-f", second.file)


@pytest.mark.claim("kubectl-get-pods", lines=["A-28", "A-29", "A-53", "A-54", "B-40", "B-41"])
def test_kubectl_get_pods_lists_pods_and_schedulers_as_running_and_not_who_scheduled(
    facts: Facts, namespace: str, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers
) -> None:
    """`kubectl get pods` lists the three pods and the schedulers as Running, and tells of no pod who scheduled it."""
    second = schedulers.deploy()
    made = [pods.apply(manifests.pod(name)) for name in ("pod1", "pod2")]
    made.append(pods.apply(manifests.pod("pod3", schedulerName=second.name)))
    for pod in made:
        pod.wait_until_running()

    words = manifests.input("words", ["get", "pods", "--output=wide"])
    listed = assert_listed_running(facts, [*words, f"--namespace={namespace}"], [pod.name for pod in made])
    assert_tells_nothing_of(listed, ["default-scheduler", second.name])

    default = f"kube-scheduler-{facts.control_planes[0]}"
    ours = [str(pod["metadata"]["name"]) for pod in second.pods()]
    where = manifests.input("where", "kube-system")
    assert_listed_running(facts, ["get", "pods", f"--namespace={where}"], [default, *ours])


@pytest.mark.claim("kubectl-version", lines=["A-06"])
def test_kubectl_version_shows_client_and_server_and_the_scheduler_goes_with_it(
    facts: Facts, manifests: Manifests
) -> None:
    """`kubectl version` shows client and server, and the scheduler is not newer, and at most one minor older."""
    words = manifests.input("words", ["version", "--output=json"])

    assert_versions(facts, words, manifests.input("scheduler", facts.scheduler_version))
