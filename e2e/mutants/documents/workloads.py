"""Mutants of test_workloads.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.deploy.rival import forgotten_copy
from schedproof.mutants import mutant
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from fixtures.world import World


@mutant(
    claim="deployment-of-pods",
    input="world",
    fault="N5: two Deployments of different identity serve one name, without any election",
    expect="by my-scheduler-* and by nobody else * -rival * binds it to",
)
def two_schedulers_of_one_name(world: World) -> Iterator[None]:
    with ExitStack() as stack:

        def deploy_a_rival(scheduler: Deployment) -> None:
            stack.enter_context(forgotten_copy(world.api, world.facts, scheduler.name))

        world.after("ready", deploy_a_rival)
        yield


@mutant(
    claim="deployment-of-pods",
    input="deployment",
    fault="N3: a node's name in the pod template: its pods bypass all schedulers",
    expect="nodeName was preset in its spec: it bypassed all schedulers",
)
def node_preset_in_the_template(deployment: Object) -> None:
    deployment["spec"]["template"]["spec"]["nodeName"] = "the-old-node"


@mutant(
    claim="daemonset-of-pods",
    input="daemonset",
    fault="schedulerName one level too high: the API server drops the field, and its pods go to the default scheduler",
    expect="is bound by my-scheduler-* and by nobody else * default-scheduler",
)
def name_beside_the_template(daemonset: Object) -> None:
    daemonset["spec"]["schedulerName"] = daemonset["spec"]["template"]["spec"].pop("schedulerName")


@mutant(
    claim="daemonset-of-pods",
    input="scheduler",
    fault="the profile's addedAffinity allows one kind of node only: the DaemonSet's other pods never fit",
    expect="pods with * are bound * 0 bound * didn't match scheduler-enforced node affinity",
)
def profile_for_other_nodes(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    term = {"matchExpressions": [{"key": "example.com/gpu", "operator": "Exists"}]}
    affinity = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    content["profiles"][0]["pluginConfig"] = [{"name": "NodeAffinity", "args": {"addedAffinity": affinity}}]
    return bundle.with_config(objects, content)
