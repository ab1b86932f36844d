"""Mutants of test_static_pod.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant

if TYPE_CHECKING:
    from fixtures.world import World
    from schedproof.shapes.static_pod import StaticPod


@mutant(
    claim="static-pod-binds",
    input="scheduler",
    fault="C3: --kubeconfig beside --config is ignored, and the configuration has no clientConnection.kubeconfig",
    expect="its Pod is Ready * it knows no API server: with --config the flag --kubeconfig is ignored",
)
def kubeconfig_by_flag_alone(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    path = content.pop("clientConnection")["kubeconfig"]
    changed = bundle.with_config(objects, content)
    workload = bundle.workload(changed)
    assert workload is not None
    bundle.containers(workload)[0]["command"].append(f"--kubeconfig={path}")
    return changed


@mutant(
    claim="static-pod-binds",
    input="scheduler",
    fault="the certificate's user is bound to nothing: the bindings name a ServiceAccount",
    expect="its Pod is Ready * the API server refuses it: it may not",
)
def user_without_rights(objects: list[Object]) -> None:
    for obj in objects:
        if obj["kind"] == "ClusterRoleBinding":
            obj["subjects"] = [{"kind": "ServiceAccount", "name": "nobody", "namespace": "kube-system"}]


@mutant(
    claim="static-pod-faults",
    input="world",
    fault="configuration management puts the file back as soon as it is gone",
    expect="second stays Pending * it is bound to",
)
def file_put_back(world: World) -> None:
    def put(scheduler: StaticPod) -> None:
        with scheduler.unheard():
            scheduler.deploy().wait_until_ready()

    world.after("delete", put)
