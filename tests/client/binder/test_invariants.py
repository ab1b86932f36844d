"""What holds over the whole time of a claim."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from schedproof.api import Api, Object
from schedproof.binder import invariants
from schedproof.binder.audit import AuditLog
from schedproof.binder.quantity import quantity, requests
from schedproof.cluster.facts import Facts
from schedproof.errors import ApiError, ClaimFailed

SCHEDULER = "system:kube-scheduler"
RIVAL = "system:serviceaccount:kube-system:my-scheduler"
SLOT = "example.com/slot"


@pytest.fixture
def check(api: Api, facts: Facts, audit: AuditLog) -> Callable[..., None]:
    """Check the invariants of a claim in namespace ``ns`` that begins now."""
    began = time.time() - 0.001
    return lambda **more: invariants.check(api, facts, audit, since=began, namespaces=["ns"], **more)


def lease(line: Callable[..., str], user: str, holder: str, code: int = 200) -> str:
    body = {"spec": {"holderIdentity": holder}}
    return line("lease", user, code=code, namespace="kube-system", name="kube-scheduler", body=body)


def test_a_lease_that_the_control_plane_keeps_is_as_it_should_be(note: Any, check: Any, line: Any) -> None:
    note(lease(line, SCHEDULER, "cp_1234"))
    note(lease(line, SCHEDULER, ""))  # given up in good order
    note(lease(line, RIVAL, "my-scheduler-x_1", code=403))  # tried and refused
    check()


@pytest.mark.parametrize(("user", "holder"), [(RIVAL, "my-scheduler-x_1"), (SCHEDULER, "elsewhere_1"), (RIVAL, "cp_1")])
def test_a_lease_that_anybody_else_took_for_a_moment_fails(
    note: Any, check: Any, line: Any, user: str, holder: str
) -> None:
    note(lease(line, user, holder))
    note(lease(line, SCHEDULER, "cp_1234"))
    with pytest.raises(ClaimFailed, match=f"{user}.* made {holder} its holder"):
        check()


def test_a_lease_that_is_held_by_another_now_fails_without_any_update(server: Any, check: Any) -> None:
    meta = {"name": "kube-scheduler", "namespace": "kube-system"}
    server.put({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
                "spec": {"holderIdentity": "my-scheduler-x_1"}})  # fmt: skip
    with pytest.raises(ClaimFailed, match="held by my-scheduler-x_1"):
        check()


def test_without_an_audit_log_the_present_holder_is_checked(server: Any, api: Api, facts: Facts) -> None:
    invariants.check(api, facts, None, since=time.time())
    assert "get" in server.verbs()


def test_a_cluster_that_hides_its_control_plane_is_not_accused(server: Any, api: Api, facts: Facts) -> None:
    meta = {"name": "kube-scheduler", "namespace": "kube-system"}
    server.put({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
                "spec": {"holderIdentity": "ip-172-16-1-2_1"}})  # fmt: skip
    invariants.check(api, dataclasses.replace(facts, control_planes=()), None, since=0.0)


def test_a_pod_that_was_bound_twice_fails(note: Any, check: Any, line: Any) -> None:
    note(line("binding", SCHEDULER, code=201, uid="u1", node="n1"))
    check()
    note(line("binding", RIVAL, code=201, uid="u1", node="n2"))
    with pytest.raises(ClaimFailed, match=rf"pod1 is bound once[\s\S]*to n1\n.*{RIVAL} bound it to n2"):
        check()


@pytest.mark.usefixtures("audit")
def test_a_rival_that_was_refused_fails_unless_that_is_the_claim(note: Any, check: Any, line: Any) -> None:
    note(line("binding", SCHEDULER, code=201, uid="u1", node="n1"))
    note(line("binding", SCHEDULER, code=409, uid="u1", node="n1"))
    check()
    note(line("binding", RIVAL, code=409, uid="u1", node="n2"))
    check(waived={invariants.RIVALS})
    with pytest.raises(ClaimFailed, match=rf"nobody but its binder[\s\S]*{RIVAL} tried to bind it to n2: 409"):
        check()


@pytest.mark.usefixtures("audit")
class TestAllocatable:
    """A node gets no more than it has, as far as that is certain."""

    @pytest.fixture(autouse=True)
    def node_with_one_slot(self, server: Any) -> None:
        allocatable = {SLOT: "1", "pods": "110", "cpu": "2"}
        server.put(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": allocatable}}
        )

    def slot_pod(self, server: Any, name: str, user: str = RIVAL) -> Object:
        made = server.pod(name)
        made["spec"]["containers"] = [{"name": "c", "resources": {"requests": {SLOT: "1"}}}]
        server.put(made)
        server.bind(name, "n1", user)
        return dict(made)

    def test_as_much_as_there_is_is_fine(self, server: Any, check: Any) -> None:
        self.slot_pod(server, "a")
        check()

    def test_more_than_there_is_by_one_scheduler_fails(self, server: Any, check: Any) -> None:
        self.slot_pod(server, "a")
        self.slot_pod(server, "b")
        with pytest.raises(ClaimFailed, match=rf"no more than its allocatable {SLOT}: 1 [\s\S]*makes 2; there: a, b"):
            check()

    def test_two_schedulers_may_honestly_take_the_same_place(self, server: Any, check: Any) -> None:
        self.slot_pod(server, "a")
        self.slot_pod(server, "b", SCHEDULER)
        check()

    def test_a_deleted_pods_place_is_free_again(self, server: Any, api: Api, check: Any) -> None:
        gone = self.slot_pod(server, "a")
        api.delete("Pod", "a", "ns")
        self.slot_pod(server, "b")
        check(pods=[gone])

    def test_a_pod_that_ended_is_not_counted(self, server: Any, check: Any) -> None:
        self.slot_pod(server, "a")
        server.pod("a", phase="Succeeded")
        self.slot_pod(server, "b")
        check()

    def test_a_node_that_does_not_have_the_resource_has_none_of_it(self, server: Any, check: Any) -> None:
        server.put(
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"allocatable": {"pods": "9"}}}
        )
        self.slot_pod(server, "a")
        with pytest.raises(ClaimFailed, match=f"allocatable {SLOT}: 0"):
            check()


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", "1"), ("100m", "0.1"), ("1Gi", "1073741824"), ("2k", "2000"), ("1e3", "1000"), ("1E", "1e18"), ("0", "0")],
)
def test_quantities_are_exact(text: str, number: str) -> None:
    assert quantity(text) == Decimal(number)


def test_what_is_no_quantity_is_an_error_of_the_harness() -> None:
    with pytest.raises(ApiError, match="quantities"):
        quantity("much")


def test_a_pod_takes_its_containers_sum_or_its_largest_init_container() -> None:
    def box(cpu: str) -> Object:
        return {"resources": {"requests": {"cpu": cpu}}}

    spec = {
        "containers": [box("100m"), box("200m")],
        "initContainers": [box("250m"), box("1")],
        "overhead": {"cpu": "1"},
    }
    assert requests({"spec": spec}) == {"cpu": Decimal(2), "pods": Decimal(1)}
    limits = {"containers": [{"resources": {"limits": {SLOT: "2"}}}]}
    assert requests({"spec": limits})[SLOT] == 2
