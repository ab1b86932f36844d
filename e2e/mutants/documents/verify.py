"""Mutants of test_verify.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import faults
from schedproof.deploy.rival import forgotten_copy
from schedproof.mutants import mutant
from schedproof.pods import Pod

if TYPE_CHECKING:
    from fixtures.world import World

POD3 = "annotation-second-scheduler"


@mutant(
    claim="pods-first",
    input="world",
    fault="N5: a scheduler of this name, forgotten from an earlier try, is still running",
    expect="stays Pending * it is bound to * -rival * binds it to",
)
def forgotten_scheduler(world: World) -> Iterator[None]:
    with ExitStack() as stack:

        def deploy_and_let_it_bind(pod: Pod) -> None:
            if pod.name == POD3:
                stack.enter_context(forgotten_copy(world.api, world.facts, pod.scheduler))
                pod.wait_until_bound()

        world.after("apply", deploy_and_let_it_bind)
        yield


@mutant(
    claim="pods-first",
    input="world",
    fault="somebody loses patience and binds the waiting pod by hand",
    expect="stays Pending * it is bound to * kubernetes-admin binds it to",
)
def bound_by_hand(world: World) -> None:
    def bind(pod: Pod) -> None:
        if pod.name == POD3:
            world.api.bind(pod.current(), (world.facts.workers or world.facts.control_planes)[0])

    world.after("apply", bind)


@mutant(
    claim="pods-first",
    input="scheduler",
    fault="R1: the binding to system:volume-scheduler is missing; Ready by /healthz, it never binds anything",
    expect="is bound * it may not list * a rule or binding is missing",
)
def without_volume_scheduler(objects: list[Object]) -> list[Object]:
    return faults.without_volume_scheduler(objects)


@mutant(
    claim="scheduled-events",
    input="scheduler",
    fault="R6: the scheduler's role has all it needs but events",
    expect=f"the Scheduled event of pod {POD3} names my-scheduler-* there is no Scheduled event about it",
)
def role_without_events(objects: list[Object]) -> None:
    _without_events(objects)


@mutant(
    claim="scheduled-events",
    input="world",
    fault="whoever may create events can write one in another scheduler's name",
    expect="Scheduled events of default-scheduler and of my-scheduler-*",
)
def forged_event(world: World) -> None:
    def forge(pod: Pod) -> None:
        if pod.name == POD3:
            pod.wait_until_bound()
            pod.scheduled_events()  # the true one first
            world.api.create(_forged(pod))

    world.after("apply", forge)


@mutant(
    claim="kubectl-get-events",
    input="scheduler",
    fault="R6: the scheduler's role has all it needs but events, so kubectl has none to show",
    expect=f"shows as SOURCE of Scheduled * my-scheduler-* for {POD3} * default-scheduler for pod/no-annotation",
)
def role_without_events_to_show(objects: list[Object]) -> None:
    _without_events(objects)


@mutant(
    claim="kubectl-get-events",
    input="current-namespace",
    fault="kubectl's current namespace is not the pods': it says that there are no events",
    expect="shows as SOURCE of Scheduled in default * no Scheduled event at all",
)
def another_current_namespace(namespace: str) -> str:  # noqa: ARG001 - it is replaced
    return "default"


def _forged(pod: Pod) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{pod.name}.forged", "namespace": pod.namespace},
        "involvedObject": {"kind": "Pod", "name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
        "reason": "Scheduled",
        "message": "Successfully assigned",
        "type": "Normal",
        "source": {"component": "default-scheduler"},
        # Before the true one, whatever the second: without a time it would be sorted by the second it was created in.
        "lastTimestamp": pod.current()["metadata"]["creationTimestamp"],
    }


def _without_events(objects: list[Object]) -> None:
    """Bind the scheduler to a role of its own that reads everything and writes all it must but events."""
    binding = next(obj for obj in objects if (obj.get("roleRef") or {}).get("name") == "system:kube-scheduler")
    name = binding["metadata"]["name"] + "-no-events"
    binding["roleRef"]["name"] = name
    rules = [
        {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["pods/binding", "pods/status"], "verbs": ["create", "patch", "update"]},
        {"apiGroups": ["authentication.k8s.io", "authorization.k8s.io"], "resources": ["*"], "verbs": ["create"]},
    ]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }
    objects.append(role)
