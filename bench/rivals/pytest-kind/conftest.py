"""A small project tested with pytest-kind, as its README shows.

Its fixture ``kind_cluster`` gives kind no configuration, and without one no kubelet of today starts on cgroup v1; so
the cluster is made as the README does it without pytest: ``KindCluster(NAME)``, ``create``, ``delete``.
"""

import os
import time
from pathlib import Path
from subprocess import CalledProcessError

import pytest
from pytest_kind import KindCluster

PER = os.environ["BENCH_CLUSTER_PER"]
KEPT = os.environ.get("BENCH_KEPT") == "1"


@pytest.fixture(scope=PER)
def cluster():
    """A cluster with the scheduler's image, one a session or one a test."""
    kind_cluster = KindCluster(
        os.environ["BENCH_CLUSTER"],
        kubeconfig=Path(os.environ["BENCH_KUBECONFIG"]),
        kind_path=Path(os.environ["BENCH_KIND"]),
        kubectl_path=Path(os.environ["BENCH_KUBECTL"]),
    )
    try:
        kind_cluster.create(os.environ["BENCH_KIND_CONFIG"])
        wait_until_usable(kind_cluster)
        if not KEPT:
            kind_cluster.load_docker_image(os.environ["BENCH_SCHEDULER_IMAGE"])
        yield kind_cluster
    finally:
        if not KEPT:
            kind_cluster.delete()


def wait_until_usable(kind_cluster):
    """What the README's last note asks for: "add wait/poll functionality as required"."""
    kind_cluster.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=180s")
    for _ in range(60):
        try:
            kind_cluster.kubectl("get", "serviceaccount", "default")
        except CalledProcessError:
            time.sleep(1)
        else:
            return


@pytest.fixture
def my_scheduler(cluster, manifests):
    """The second scheduler, deployed for one test."""
    cluster.kubectl("apply", "-f", f"{manifests}/my-scheduler.yaml")
    cluster.kubectl("rollout", "status", "-n", "kube-system", "deployment/my-scheduler", f"--timeout={patience()}s")
    yield "my-scheduler"
    if PER == "session":
        cluster.kubectl("delete", "-f", f"{manifests}/my-scheduler.yaml", "--ignore-not-found")


@pytest.fixture
def manifests():
    """The folder with the YAML."""
    return os.environ["BENCH_MANIFESTS"]


@pytest.fixture(autouse=True)
def no_pods_left(cluster):
    """Each test has the namespace default for itself; what has a cluster for itself leaves it as it is."""
    yield
    if PER == "session":
        cluster.kubectl("delete", "pods", "--all", "--now")


def patience():
    """Seconds to wait for something that should happen."""
    return os.environ["BENCH_PATIENCE"]
