"""Mutants of test_names.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedproof.api import Object
from schedproof.mutants import mutant
from schedproof.pods import Pod

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="unknown-name-stays-pending",
    input="lost",
    fault="N1 the other way round: the name that should be a typing error is one that is served",
    expect="lost stays Pending * it is bound",
    renames=True,
)
def served_after_all(pod: Object) -> None:
    pod["spec"]["schedulerName"] = pod["spec"]["schedulerName"].replace("schedular", "scheduler")


@mutant(
    claim="unknown-name-stays-pending",
    input="world",
    fault="another controller (a node autoscaler) comments on every pod that waits",
    expect="lost stays Pending * an event: * NotTriggerScaleUp by cluster-autoscaler",
)
def commented_by_an_autoscaler(world: World) -> None:
    def comment(pod: Pod) -> None:
        if pod.name == "lost":
            world.api.create(_event(pod))

    world.after("apply", comment)


@mutant(
    claim="unknown-name-stays-pending",
    input="world",
    fault="somebody's script binds whatever is Pending",
    expect="lost stays Pending * it is bound to * kubernetes-admin binds it",
)
def bound_by_hand(world: World) -> None:
    def bind(pod: Pod) -> None:
        if pod.name == "lost":
            world.api.bind(pod.current(), (world.facts.workers or world.facts.control_planes)[0])

    world.after("apply", bind)


@mutant(
    claim="name-cannot-be-changed",
    input="change",
    fault="the change is one that the API server allows, so its acceptance of the name would go unseen",
    expect="the change is accepted",
)
def allowed_change(change: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"labels": change["spec"]}}


@mutant(
    claim="name-cannot-be-changed",
    input="change",
    fault="the change is refused, but for another field than the scheduler's name",
    expect="it is refused for another reason: 422",
)
def another_field(change: dict[str, Any]) -> None:
    change["spec"] = {"hostname": "elsewhere"}


@mutant(
    claim="name-cannot-be-changed",
    input="world",
    fault="a GitOps controller replaces the pod when it cannot change it",
    expect="pod annotation-second-scheduler still exists",
)
def replaced(world: World) -> None:
    world.after("apply", lambda pod: pod.delete(grace=0))


def _event(pod: Pod) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{pod.name}.autoscaler", "namespace": pod.namespace},
        "involvedObject": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "reason": "NotTriggerScaleUp",
        "message": "pod did not trigger scale-up",
        "type": "Normal",
        "source": {"component": "cluster-autoscaler"},
    }
