"""Faults of a bundle: each function breaks a copy of a bundle that works, in one way, and returns it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from schedproof.deploy import bundle

if TYPE_CHECKING:
    from schedproof.api import Object

Break = Callable[[Sequence["Object"]], list["Object"]]

HOUR = 3600


def without_volume_scheduler(objects: Sequence[Object]) -> list[Object]:
    """Return the bundle without its binding to ``system:volume-scheduler``, and with the documents' probe on /healthz.

    That probe is green although the scheduler may not list what it waits for (cases R1 and E5).
    """
    broken = without_binding_to("system:volume-scheduler")(objects)
    _box(broken)["readinessProbe"]["httpGet"]["path"] = "/healthz"
    return broken


def without_binding_to(role: str) -> Break:
    """Return a fault: nothing binds its identity to this role (R1, R2)."""

    def without(objects: Sequence[Object]) -> list[Object]:
        return [obj for obj in copy.deepcopy(list(objects)) if (obj.get("roleRef") or {}).get("name") != role]

    return without


def without_kind(kind: str) -> Break:
    """Return a fault: the bundle does not bring its objects of one kind."""
    return lambda objects: [obj for obj in copy.deepcopy(list(objects)) if obj["kind"] != kind]


def scaled_to_0(objects: Sequence[Object]) -> list[Object]:
    """Nobody runs it: zero replicas."""
    return _changed(objects, lambda broken: _workload(broken)["spec"].update(replicas=0))


def with_old_configuration(objects: Sequence[Object]) -> list[Object]:
    """C1: a configuration that only schedulers of up to 1.28 read."""
    return _configured(objects, lambda content: content.update(apiVersion="kubescheduler.config.k8s.io/v1beta3"))


def with_one_profile_twice(objects: Sequence[Object]) -> list[Object]:
    """C5: two profiles of one name."""
    return _configured(objects, lambda content: content["profiles"].append(copy.deepcopy(content["profiles"][0])))


def with_another_profile(objects: Sequence[Object]) -> list[Object]:
    """C8: the second document's pair of names: the pods ask for one, the profile has another that looks like it."""

    def rename(content: dict[str, Any]) -> None:
        profile = content["profiles"][0]
        profile["schedulerName"] = profile["schedulerName"].replace("my-scheduler", "my-custom-scheduler")

    return _configured(objects, rename)


def with_kubeconfig(path: str) -> Break:
    """Return a fault: the configuration names a kubeconfig that is not mounted (C3 the other way round)."""
    return lambda objects: _configured(objects, lambda content: content.update(clientConnection={"kubeconfig": path}))


def with_configuration_at(path: str) -> Break:
    """Return a fault: ``--config`` names a path at which nothing is mounted (B-27)."""

    def change(broken: list[Object]) -> None:
        box = _box(broken)
        box["command"] = [f"--config={path}" if word.startswith("--config=") else word for word in box["command"]]

    return lambda objects: _changed(objects, change)


def with_flag(word: str) -> Break:
    """Return a fault: one flag more on its command line (C2)."""
    return lambda objects: _changed(objects, lambda broken: _box(broken)["command"].append(word))


def with_program(path: str) -> Break:
    """Return a fault: the container's command is another program (I4)."""

    def change(broken: list[Object]) -> None:
        _box(broken)["command"][0] = path

    return lambda objects: _changed(objects, change)


def with_liveness_probe_on_old_port(objects: Sequence[Object]) -> list[Object]:
    """E4: the documents' times' probe, on the port that is gone since 1.23; it asks at once, not after 15 s."""

    def change(broken: list[Object]) -> None:
        _box(broken)["livenessProbe"] = {
            "httpGet": {"path": "/healthz", "port": 10251}, "periodSeconds": 1, "failureThreshold": 1,
        }  # fmt: skip

    return _changed(objects, change)


def with_readiness_probe_on_old_port(objects: Sequence[Object]) -> list[Object]:
    """E4 again, with the other probe: the scheduler is never Ready."""

    def change(broken: list[Object]) -> None:
        _box(broken)["readinessProbe"]["httpGet"] = {"path": "/healthz", "port": 10251}

    return _changed(objects, change)


def with_image_policy(policy: str, *, tag: str = "") -> Break:
    """Return a fault: another imagePullPolicy, and another tag of its image if one is given (I2)."""

    def change(broken: list[Object]) -> None:
        box = _box(broken)
        box["imagePullPolicy"] = policy
        if tag:
            box["image"] = f"{box['image'].rpartition(':')[0]}:{tag}"

    return lambda objects: _changed(objects, change)


def with_dangling_binding(objects: Sequence[Object]) -> list[Object]:
    """R3: a binding to a role that does not exist, which the API server accepts."""

    def change(broken: list[Object]) -> None:
        for obj in broken:
            if (obj.get("roleRef") or {}).get("name") == "system:volume-scheduler":
                obj["roleRef"]["name"] = "system:volume-schedulers"

    return _changed(objects, change)


def with_default_account(objects: Sequence[Object]) -> list[Object]:
    """R4: no serviceAccountName."""
    return _changed(objects, lambda broken: bundle.pod_spec(_workload(broken)).pop("serviceAccountName"))


def with_default_lease(objects: Sequence[Object]) -> list[Object]:
    """L1: leader election left to its defaults, so behind the default scheduler's lease."""
    return _configured(objects, lambda content: content.update(leaderElection={"leaderElect": True}))


def with_own_lease(objects: Sequence[Object]) -> list[Object]:
    """L3: a lease of its own, which it may not use."""
    name = _workload(objects)["metadata"]["name"]
    election = {"leaderElect": True, "resourceName": name}
    return _configured(objects, lambda content: content.update(leaderElection=election))


def with_lease_of_another(objects: Sequence[Object]) -> list[Object]:
    """A lease that it may use, and that somebody else holds: another team's copy of the same manifest, say."""
    broken = with_own_lease(objects)
    workload = _workload(broken)
    name, namespace, labels = workload["metadata"]["name"], "kube-system", dict(workload["metadata"]["labels"])
    metadata = {"name": name, "namespace": namespace, "labels": labels}
    rbac = "rbac.authorization.k8s.io"
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    rule = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "update"],
            "resourceNames": [name]}  # fmt: skip
    account = {"kind": "ServiceAccount", "name": bundle.service_account(workload),
               "namespace": bundle.namespace(workload)}  # fmt: skip
    held = {"holderIdentity": "another-scheduler-0_6f1d", "leaseDurationSeconds": HOUR, "renewTime": now}
    return [
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": dict(metadata), "rules": [rule]},
        {"apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": dict(metadata), "subjects": [account],
         "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name}},
        {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": dict(metadata), "spec": held},
        *broken,
    ]  # fmt: skip


without_service_account, without_config_map = without_kind("ServiceAccount"), without_kind("ConfigMap")


def _changed(objects: Sequence[Object], change: Callable[[list[Object]], Any]) -> list[Object]:
    broken = copy.deepcopy(list(objects))
    change(broken)
    return broken


def _configured(objects: Sequence[Object], change: Callable[[dict[str, Any]], Any]) -> list[Object]:
    content = copy.deepcopy(bundle.configs(objects)[0].content or {})
    change(content)
    return bundle.with_config(objects, content)


def _workload(objects: Sequence[Object]) -> Object:
    workload = bundle.workload(objects)
    assert workload is not None  # noqa: S101 - a fault of a bundle without a workload would prove nothing
    return workload


def _box(objects: Sequence[Object]) -> dict[str, Any]:
    return bundle.containers(_workload(objects))[0]
