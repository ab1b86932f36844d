"""Mutants of test_run_second_scheduler.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import bundle, faults
from schedproof.mutants import mutant


@mutant(
    claim="my-scheduler-running-and-synced",
    input="scheduler",
    fault="R1, E5: no binding to system:volume-scheduler, and the documents' probe on /healthz hides it",
    expect="scheduler my-scheduler is synced * [-]sched-handler-sync * storage",
)
def without_volume_scheduler(objects: list[Object]) -> list[Object]:
    return faults.without_volume_scheduler(objects)


@mutant(
    claim="my-scheduler-running-and-synced",
    input="scheduler",
    fault="C2: the first document's flag --scheduler-name, which is gone",
    expect="this kube-scheduler has no flag --scheduler-name",
)
def flag_of_the_document(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["command"].append("--scheduler-name=my-scheduler")
