"""Old manifests and command lines: what kubectl, and the API server behind it, say to them today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof import data
from schedproof.binder import DEFAULT
from schedproof.typed import assert_log_shown, assert_refused

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from fixtures.mutation import Mutation
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts

ANNOTATION = "scheduler.alpha.kubernetes.io/name"
"""How pods named their scheduler up to Kubernetes 1.5."""


@pytest.mark.claim("pod-is-not-valid-yaml", lines=["B-24"])
def test_documents_pod_is_not_valid_yaml(facts: Facts, mutation: Mutation) -> None:
    """The document's my-custom-scheduler.yaml is not valid YAML: image and name stand below the command's list."""
    text = data.manifests("legacy", "my-custom-scheduler.txt").read_text(encoding="utf-8")

    words = ["create", "--dry-run=client", "--filename=-"]
    assert_refused(facts, *words, stdin=mutation.input("text", text), saying="mapping values are not allowed")


@pytest.mark.claim("kubectl-logs-name-space", lines=["B-47"])
def test_kubectl_exits_at_the_flag_name_space_and_shows_the_log_with_namespace(
    api: Api, facts: Facts, mutation: Mutation
) -> None:
    """`kubectl logs SCHEDULER --name-space=kube-system` exits; with `--namespace` it shows the scheduler's log."""
    scheduler = f"kube-scheduler-{facts.control_planes[0]}"

    words = mutation.input("words", ["logs", scheduler, "--name-space=kube-system"])
    assert_refused(facts, *words, saying="unknown flag: --name-space")

    shown = ["logs", scheduler, f"--namespace={mutation.input('namespace', 'kube-system')}"]
    assert_log_shown(api, facts, shown, pod=scheduler, namespace="kube-system")


@pytest.mark.claim("annotation-means-nothing", lines=["A-56"])
def test_annotation_with_a_schedulers_name_means_nothing(
    manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """A pod that names my scheduler in its annotations and its labels, not in its spec, is the default scheduler's."""
    second = schedulers.deploy()
    pod = manifests.pod("pod1", name="annotation-second-scheduler", input="before")
    pod["metadata"]["annotations"] = {ANNOTATION: second.name}
    pod["metadata"]["labels"] = {"schedulerName": second.name}

    annotated = pods.apply(manifests.input("pod", pod))

    binder.assert_bound_by(annotated, DEFAULT)
