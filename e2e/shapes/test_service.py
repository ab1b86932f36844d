"""An additional scheduler as a service: binary, unit file and configuration on the node, run by its systemd."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof import data
from schedproof.shapes.service import Service

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts


@pytest.fixture
def service(api: Api, facts: Facts, manifests: Manifests, schedulers: Schedulers) -> Service:
    """The second document's my-scheduler-2.service, which has not been started yet."""
    unit = data.manifests("systemd", "my-scheduler-2.service").read_text(encoding="utf-8")
    objects = manifests.scheduler(file="service", base="my-scheduler-2")
    return schedulers.hold(Service(api, facts, objects, manifests.input("unit", unit)))


@pytest.mark.claim("service-binds", lines=["B-15", "B-17", "B-19", "B-20", "B-21"])
def test_service_with_a_configuration_file_binds_the_pods_that_name_it(
    service: Service, manifests: Manifests, pods: ClaimPods, binder: Judge
) -> None:
    """The binary runs as a service with --config, and binds its pods as the user in that file's kubeconfig."""
    service.deploy().wait_until_ready()

    pod3 = pods.apply(manifests.pod("pod3", schedulerName=service.name))

    bound = binder.assert_bound_by(pod3, service)
    assert bound.identity in ("", service.identity)
    assert f"--config=/etc/kubernetes/config/{service.unit}-config.yaml" in service.text
    assert "Starting Kubernetes Scheduler" in service.logs()


@pytest.mark.claim("service-faults", lines=["B-15", "B-44"])
def test_killed_service_is_restarted_and_a_stopped_one_leaves_its_pods_pending(
    service: Service, manifests: Manifests, pods: ClaimPods, binder: Judge
) -> None:
    """Killed, systemd starts it again; stopped and disabled, its pods stay Pending until it is started."""
    service.deploy().wait_until_ready()

    killed = service.kill()
    first = pods.apply(manifests.pod("pod3", name="first", input="first", schedulerName=service.name))
    service.wait_until_ready()
    binder.assert_bound_by(first, service)
    assert service.process_id() not in (0, killed)

    gone = service.stop()
    second = pods.apply(manifests.pod("pod3", name="second", input="second", schedulerName=service.name))
    pod2 = manifests.pod("pod2")
    binder.assert_stays_pending([second], controls=lambda: [pods.apply(pod2)], since=gone)

    service.start()
    binder.assert_bound_by(second, service)
