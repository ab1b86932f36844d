"""Run the second scheduler: it is listed as Running beside kube-scheduler, and it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.assertions import assert_synced

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api

LITERAL = pytest.mark.xdist_group("my-scheduler")
"""The one claim with the documents' own name: its twin and its mutants must not run side by side."""


@LITERAL
@pytest.mark.claim("my-scheduler-running-and-synced", lines=["A-16", "A-20", "A-26", "A-28", "A-29", "B-12", "B-41"])
def test_my_scheduler_is_listed_as_running_beside_kube_scheduler_and_works(
    api: Api, manifests: Manifests, pods: ClaimPods, schedulers: Schedulers, binder: Judge
) -> None:
    """my-scheduler's Pod is listed in kube-system as Running beside kube-scheduler's, and it is synced and binds."""
    my_scheduler = schedulers.deploy("my-scheduler")

    running, _ = api.list("Pod", "kube-system", fields="status.phase=Running")
    listed = [pod["metadata"]["name"] for pod in running]
    assert [name for name in listed if name.startswith("kube-scheduler-")]
    assert [pod["metadata"]["name"] for pod in my_scheduler.pods() if pod["metadata"]["name"] in listed]

    assert_synced(my_scheduler)
    pod3 = pods.apply(manifests.pod("pod3"))
    assert pod3.scheduler == "my-scheduler"
    binder.assert_bound_by(pod3, my_scheduler)
