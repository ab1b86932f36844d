"""Mutants of test_specify_schedulers.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant


@mutant(
    claim="pod1-bound-by-default-scheduler",
    input="pod1",
    fault="N3: a node's name was left in the spec, so the pod bypasses all schedulers",
    expect="nodeName was preset in its spec: it bypassed all schedulers",
)
def node_preset(pod: Object) -> None:
    pod["spec"]["nodeName"] = "the-old-node"


@mutant(
    claim="pod1-bound-by-default-scheduler",
    input="pod1",
    fault="a controller that should lift the pod's scheduling gate is not installed",
    expect="pod no-annotation is bound * SchedulingGated",
)
def gated(pod: Object) -> None:
    pod["spec"]["schedulingGates"] = [{"name": "example.com/quota"}]


@mutant(
    claim="pod2-bound-by-default-scheduler",
    input="pod2",
    fault="no node carries the label that the pod's nodeSelector asks for",
    expect="pod annotation-default-scheduler is bound * didn't match Pod's node affinity/selector",
)
def no_node_fits(pod: Object) -> None:
    pod["spec"]["nodeSelector"] = {"disktype": "ssd"}


@mutant(
    claim="pod3-bound-by-my-scheduler",
    input="scheduler",
    fault="L1: leader election without a lease of its own; it stands by behind the default scheduler for ever",
    expect="pod annotation-second-scheduler is bound * kube-system/kube-scheduler",
)
def standby_for_ever(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content["leaderElection"] = {"leaderElect": True}
    return bundle.with_config(objects, content)


@mutant(
    claim="pod3-bound-by-my-scheduler",
    input="scheduler",
    fault="the second scheduler runs with the default one's kubeconfig, so the API server cannot tell them apart",
    expect="another identity made the binding * system:kube-scheduler",
)
def identity_of_the_default(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content["clientConnection"] = {"kubeconfig": "/etc/kubernetes/scheduler.conf"}
    changed = bundle.with_config(objects, content)
    workload = bundle.workload(changed)
    assert workload is not None
    spec, box = bundle.pod_spec(workload), bundle.scheduler_container(workload)
    assert box is not None
    spec["nodeSelector"] = {"node-role.kubernetes.io/control-plane": ""}
    spec["tolerations"] = [{"operator": "Exists"}]
    spec["volumes"].append({"name": "conf", "hostPath": {"path": "/etc/kubernetes/scheduler.conf", "type": "File"}})
    box["volumeMounts"].append({"name": "conf", "mountPath": "/etc/kubernetes/scheduler.conf", "readOnly": True})
    box["securityContext"] = {"runAsUser": 0}  # the file is root's alone
    return changed


@mutant(
    claim="all-three-running",
    input="pod3",
    fault="I2: the pod's image is not on the nodes, and nothing may be pulled",
    expect="pod annotation-second-scheduler is running * ErrImageNeverPull",
)
def image_not_on_the_node(pod: Object) -> None:
    pod["spec"]["containers"][0] |= {"image": "example.invalid/not-there:1", "imagePullPolicy": "Never"}


@mutant(
    claim="all-three-running",
    input="pod2",
    fault="the pod's command is not in its image: it is bound and never runs",
    expect="pod annotation-default-scheduler is running * no such file or directory",
)
def command_not_in_the_image(pod: Object) -> None:
    pod["spec"]["containers"][0]["command"] = ["/usr/bin/not-there"]


@mutant(
    claim="all-three-running",
    input="scheduler",
    fault="I2: imagePullPolicy Always on the scheduler's image, which is in no registry that the nodes reach",
    expect="pods Ready * with imagePullPolicy Always: the node pulls it although it was loaded",
)
def scheduler_image_pulled_always(objects: list[Object]) -> None:
    workload = bundle.workload(objects)
    assert workload is not None
    bundle.containers(workload)[0]["imagePullPolicy"] = "Always"
