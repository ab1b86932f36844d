"""Mutants of test_metrics.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Api, Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant
from schedproof.pods import Pod
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="metrics-agree-with-audit-log",
    input="world",
    fault="the scheduler restarts half-way: its counters begin anew",
    expect="schedule_attempts_total of profile my-scheduler-* is 5 scheduled * it is 2 scheduled",
)
def restarted_half_way(world: World) -> None:
    running: list[Deployment] = []

    def restart(pod: Pod) -> None:
        if pod.name == "pod3-3":
            pod.wait_until_bound()
            with running[0].unheard() as scheduler:
                scheduler.kill_pod()
                scheduler.wait_until_ready()

    world.after("ready", running.append)
    world.after("apply", restart)


@mutant(
    claim="metrics-agree-with-audit-log",
    input="world",
    fault="a script binds a pod with the scheduler's ServiceAccount",
    expect="schedule_attempts_total of profile my-scheduler-* is 6 scheduled * it is 5 scheduled",
)
def another_binds_with_its_account(world: World) -> None:
    running: list[Deployment] = []

    def bind_another(pod: Pod) -> None:
        if pod.name != "pod3-1":
            return
        spec = {**pod.made["spec"], "schedulerName": "nobody", "nodeName": None}
        made = world.api.create({**pod.made, "metadata": {"name": "another", "namespace": pod.namespace}, "spec": spec})
        Api(world.facts.kubeconfig, user=running[0].identity).bind(made, world.facts.control_planes[0])

    world.after("ready", running.append)
    world.after("apply", bind_another)


@mutant(
    claim="metrics-refused-to-anonymous",
    input="scheduler",
    fault="/metrics is opened with --authorization-always-allow-paths, so that Prometheus needs no token",
    expect="answers the anonymous with 403 * it answers with 200",
)
def path_always_allowed(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["command"].append(
        "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"
    )


@mutant(
    claim="metrics-refused-to-anonymous",
    input="scheduler",
    fault="a ClusterRoleBinding lets everybody, the unauthenticated too, read /metrics everywhere",
    expect="answers the anonymous with 403 * it answers with 200",
)
def granted_to_the_unauthenticated(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    name = f"{workload['metadata']['name']}-metrics-for-everybody"
    group = "rbac.authorization.k8s.io"
    rule = {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}
    meta = {"name": name}
    objects += [
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": dict(meta), "rules": [rule]},
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": dict(meta),
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "Group", "name": "system:unauthenticated"}],
        },
    ]
