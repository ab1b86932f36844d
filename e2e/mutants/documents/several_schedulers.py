"""Mutants of test_several_schedulers.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant


@mutant(
    claim="three-more-schedulers",
    input="third",
    fault="L1: leader election without a lease of its own; it stands by behind the default scheduler for ever",
    expect="is bound * kube-system/kube-scheduler",
)
def one_stands_by(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content["leaderElection"] = {"leaderElect": True}
    return bundle.with_config(objects, content)


@mutant(
    claim="three-more-schedulers",
    input="fourth",
    fault="one of them was scaled to 0 replicas and forgotten",
    expect="is bound * 0 replicas",
)
def one_has_no_replica(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    workload["spec"]["replicas"] = 0
