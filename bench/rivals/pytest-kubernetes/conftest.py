"""A small project tested with pytest-kubernetes, as its README shows.

One cluster a test is its fixture ``k8s``; one a session is the README's "Custom Fixtures with k8s_manager". The image
of the nodes can only be given by kind's own configuration (README, "Custom Provider Configurations").
"""

import os
from pathlib import Path

import pytest
from pytest_kubernetes.options import ClusterOptions

PER = os.environ["BENCH_CLUSTER_PER"]
KEPT = os.environ.get("BENCH_KEPT") == "1"

if PER == "session":

    @pytest.fixture(scope="session")
    def cluster(k8s_manager):
        """One cluster for all tests."""
        if KEPT:  # README, "The Save My CPU Override Flag": --k8s-kubeconfig-override
            manager = k8s_manager()("kept")
            assert manager.ready()
            yield manager
            return
        manager = k8s_manager("kind")(os.environ["BENCH_CLUSTER"])
        try:
            create(manager)
            yield manager
        finally:
            manager.delete()

else:

    @pytest.fixture
    def cluster(k8s):
        """A cluster for each test; the fixture k8s deletes it."""
        create(k8s)
        return k8s


def create(k8s):
    """Make the cluster and load the scheduler's image."""
    k8s.create(cluster_options=ClusterOptions(provider_config=Path(os.environ["BENCH_KIND_CONFIG"])))
    k8s.wait("nodes --all", "condition=Ready", timeout=180)
    k8s.load_image(os.environ["BENCH_SCHEDULER_IMAGE"])


@pytest.fixture
def my_scheduler(cluster, manifests):
    """The second scheduler, deployed for one test."""
    cluster.apply(manifests / "my-scheduler.yaml")
    cluster.wait("deployments/my-scheduler", "condition=Available=True", timeout=patience(), namespace="kube-system")
    yield "my-scheduler"
    if PER == "session":
        cluster.kubectl(["delete", "-f", str(manifests / "my-scheduler.yaml"), "--ignore-not-found"], as_dict=False)


@pytest.fixture
def manifests():
    """The folder with the YAML."""
    return Path(os.environ["BENCH_MANIFESTS"])


@pytest.fixture(autouse=True)
def no_pods_left(cluster):
    """Each test has the namespace default for itself; what has a cluster for itself leaves it as it is."""
    yield
    if PER == "session":
        cluster.kubectl(["delete", "pods", "--all", "--now"], as_dict=False)


def patience():
    """Seconds to wait for something that should happen."""
    return int(os.environ["BENCH_PATIENCE"])
