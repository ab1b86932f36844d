"""Mutants of test_pod.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant

if TYPE_CHECKING:
    from fixtures.world import World
    from schedproof.shapes.pod import BarePod


@mutant(
    claim="pod-shape-binds",
    input="scheduler",
    fault="the document's Pod mounts nothing: the file that --config names is not there",
    expect="its Pod is Ready * no such file or directory",
)
def config_not_mounted(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["volumeMounts"] = []


@mutant(
    claim="pod-shape-binds",
    input="scheduler",
    fault="C2: the document's flag --address, which is gone",
    expect="its Pod is Ready * this kube-scheduler has no flag --address; today it is --bind-address",
)
def flag_address(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["command"].append("--address=127.0.0.1")


@mutant(
    claim="pod-shape-faults",
    input="world",
    fault="an operator of the scheduler's vendor makes the Pod again as soon as it is gone",
    expect="second stays Pending * it is bound to",
)
def operator_makes_it_again(world: World) -> None:
    def make(scheduler: BarePod) -> None:
        with scheduler.unheard():
            scheduler.deploy().wait_until_ready()

    world.after("delete", make)


@mutant(
    claim="pod-shape-faults",
    input="scheduler",
    fault="restartPolicy Never: the first crash of the scheduler is its last",
    expect="its Pod is Ready * exit code 137",
)
def never_restarted(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.pod_spec(workload)["restartPolicy"] = "Never"
