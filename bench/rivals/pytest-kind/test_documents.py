"""The first document's core claims, as a user of pytest-kind writes them."""

import json
import os
import time

from pykube import Pod

HOLD = 5


def wait_until_scheduled(cluster, name):
    """Wait until a pod is bound, and return who says to have done it."""
    cluster.kubectl("wait", f"pod/{name}", "--for=condition=PodScheduled", f"--timeout={os.environ['BENCH_PATIENCE']}s")
    for _ in range(10):
        selector = f"involvedObject.name={name},reason=Scheduled"
        events = json.loads(cluster.kubectl("get", "events", "--field-selector", selector, "-o", "json"))["items"]
        if events:
            return events[-1].get("reportingComponent") or events[-1]["source"]["component"]
        time.sleep(1)
    return None


def test_pod1_bound_by_default_scheduler(cluster, manifests):
    """A pod that names no scheduler is bound by the default scheduler."""
    cluster.kubectl("apply", "-f", f"{manifests}/pod1.yaml")
    assert wait_until_scheduled(cluster, "no-annotation") == "default-scheduler"


def test_pod2_bound_by_default_scheduler(cluster, manifests):
    """A pod that names default-scheduler is bound by the default scheduler."""
    cluster.kubectl("apply", "-f", f"{manifests}/pod2.yaml")
    assert wait_until_scheduled(cluster, "annotation-default-scheduler") == "default-scheduler"


def test_pod3_bound_by_my_scheduler(cluster, my_scheduler, manifests):
    """A pod that names my-scheduler is bound by it."""
    cluster.kubectl("apply", "-f", f"{manifests}/pod3.yaml")
    assert wait_until_scheduled(cluster, "annotation-second-scheduler") == my_scheduler


def test_pods_first(cluster, manifests, request):
    """Pods first: pod3 stays Pending while the others are bound; with its scheduler it is bound."""
    for pod in ("pod3", "pod1", "pod2"):
        cluster.kubectl("apply", "-f", f"{manifests}/{pod}.yaml")
    assert wait_until_scheduled(cluster, "no-annotation") == "default-scheduler"
    assert wait_until_scheduled(cluster, "annotation-default-scheduler") == "default-scheduler"
    time.sleep(HOLD)
    pod3 = Pod.objects(cluster.api).get(name="annotation-second-scheduler")
    assert pod3.obj["status"]["phase"] == "Pending"
    assert "nodeName" not in pod3.obj["spec"]

    my_scheduler = request.getfixturevalue("my_scheduler")
    assert wait_until_scheduled(cluster, "annotation-second-scheduler") == my_scheduler


def test_my_scheduler_running_and_synced(cluster, my_scheduler, manifests):
    """my-scheduler is listed as Running beside kube-scheduler, and it works."""
    pods = Pod.objects(cluster.api).filter(namespace="kube-system")
    running = [pod.name for pod in pods if pod.obj["status"]["phase"] == "Running"]
    assert [name for name in running if name.startswith("kube-scheduler-")]
    assert [name for name in running if name.startswith("my-scheduler-")]
    cluster.kubectl("apply", "-f", f"{manifests}/pod3.yaml")
    assert wait_until_scheduled(cluster, "annotation-second-scheduler") == my_scheduler
