"""A second scheduler as a Deployment: deployed, watched, scaled, killed and taken away again without a trace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import yaml

from schedproof import data
from schedproof.api import Refused
from schedproof.deploy import bundle, causes, endpoint, roles, rollout
from schedproof.deploy.manifests import load, renamed
from schedproof.errors import ApiError, Unreachable, UsageError, WaitTimeout
from schedproof.evidence.redaction import redacted_object
from schedproof.shapes.scheduler import LOG_LINES, Scheduler
from schedproof.watch.deadlines import DELETE, ROLLOUT, Deadline
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

DEPLOYMENT, REPLICA_SET, LEASE = "apps/v1/Deployment", "apps/v1/ReplicaSet", "coordination.k8s.io/v1/Lease"


class Deployment(Scheduler):
    """One second scheduler that a Deployment runs.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: The bundle, already under names of its own (:func:`schedproof.deploy.manifests.renamed`).
        name: The schedulerName that its pods ask for; by default the first one that its configuration serves.

    Raises:
        UsageError: The bundle has no Deployment.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], name: str = "") -> None:
        workload = bundle.workload(objects)
        if workload is None or workload["kind"] != "Deployment":
            raise UsageError(
                "the manifests hold a Deployment that runs the scheduler",
                seen=", ".join(sorted({obj["kind"] for obj in objects})) or "nothing",
                cure="add it, see manifests/kubernetes/second-scheduler",
            )
        super().__init__(api, facts, objects, name=name, namespace=bundle.namespace(workload))
        self.deployment = str(workload["metadata"]["name"])
        self._mark = rollout.mark(self.objects)
        self._granted: str | None = None
        self._reader: list[Object] = []

    @property
    def identity(self) -> str:
        """The user that the API server sees, e.g. ``system:serviceaccount:kube-system:my-scheduler``."""
        return f"system:serviceaccount:{self.namespace}:{bundle.service_account(self._workload)}"

    @property
    def selector(self) -> str:
        """Labels of its pods, as a label selector."""
        labels = (self._workload["spec"].get("selector") or {}).get("matchLabels") or {}
        return ",".join(f"{key}={value}" for key, value in labels.items())

    def _deploy(self) -> None:
        for obj in self.objects:
            self._api.apply(obj)

    def _wait_until_ready(self, deadline: Deadline) -> None:
        """Wait until the rollout is complete, every pod Ready, and the running image the one under test."""
        wanted = self._replicas()
        missing = [found for found in self.findings() if found.id == "missing-reference"]
        if missing and wanted:
            raise Unreachable(
                f"{self.title}: {wanted} of {wanted} pods Ready", cause=str(missing[0]), cure=missing[0].cure
            )
        try:
            pods = self._wait_for_pods(wanted, deadline)
        except (Unreachable, WaitTimeout) as error:
            told = error.message
            state = "\n".join(self._summary())
            raise type(error)(
                told.expected, seen=told.seen, scheduler=state, cause=self.cause() or told.cause
            ) from error
        for pod in pods:
            endpoint.check_image(pod, self._workload, self._facts)

    def _refuse_to_overwrite(self) -> None:
        """Refuse when somebody else's Deployment has the name: a foreign cluster may have a my-scheduler already."""
        there = self._api.get(DEPLOYMENT, self.deployment, self.namespace)
        if there is not None and rollout.ROLLED not in _labels(there):
            raise UsageError(
                f"no Deployment {self.namespace}/{self.deployment} but one of schedproof's is in the cluster",
                seen="somebody else made it: it would be overwritten, and removed at the end",
                cure="use another cluster, or give the scheduler another name",
            )

    def _wait_for_pods(self, wanted: int, deadline: Deadline) -> list[Object]:
        pods = wait_until(
            self._api, "Pod", self.namespace,
            lambda pods: len(pods) == wanted and all(rollout.ready(pod) for pod in pods),
            deadline=deadline, labels=f"{self.selector},{rollout.ROLLED}={self._mark}",
            expected=f"{self.title}: {wanted} of {wanted} pods Ready",
            hopeless=self._hopeless,
        )  # fmt: skip
        wait_until(
            self._api, DEPLOYMENT, self.namespace, lambda found: any(rollout.rolled_out(obj, wanted) for obj in found),
            deadline=deadline, fields=f"metadata.name={self.deployment}",
            expected=f"{self.title}: the rollout is complete",
        )  # fmt: skip
        return pods

    def synced(self) -> str:
        """Return what ``/readyz?verbose`` says, one line a check: ``[+]`` passed, ``[-]`` failed.

        Synced is ``[+]sched-handler-sync ok``; all of it is well when the text ends with ``readyz check passed``.

        Raises:
            ApiError: There is no pod, or it does not answer.
        """
        return endpoint.readyz(self._api, self._pod(), bundle.port(self._box))

    def scale(self, replicas: int) -> float:
        """Scale; with 0 wait until the pods are really gone, else until they are ready.

        Returns:
            ``time.time()`` at which it was certain.

        Raises:
            WaitTimeout: The deadline passed.
            Unreachable: The new pods cannot become ready.
        """
        self._workload["spec"]["replicas"] = replicas
        self._api.patch(DEPLOYMENT, self.deployment, {"spec": {"replicas": replicas}}, self.namespace)
        if replicas:
            self.wait_until_ready()
        else:
            self._wait_until_gone("Pod")
        when = time.time()
        self.happened("scale")
        return when

    def stop(self) -> float:
        """Scale to 0. The kubelet removes a Pod after its containers ended, so nothing of it binds any more.

        Returns:
            ``time.time()`` at which it was certain.
        """
        return self.scale(0)

    def kill_pod(self, deadline: Deadline = ROLLOUT) -> str:
        """Kill its Pod, wait until its containers have ended and the Deployment has made another one.

        Its grace is 1 s, not 0: at 0 the API server forgets the Pod at once, while its process still binds pods for
        some hundred milliseconds (seen on v1.37.2).

        Returns:
            The killed Pod's name.

        Raises:
            ApiError: There is no Pod to kill.
            WaitTimeout: The deadline passed.
        """
        killed = self._pod()
        uid = killed["metadata"]["uid"]
        self._api.delete("Pod", killed["metadata"]["name"], self.namespace, grace=1)
        wait_until(
            self._api, "Pod", self.namespace,
            lambda pods: any(pod["metadata"]["uid"] != uid and not rollout.ending(pod) for pod in pods)
            and all(pod["metadata"]["uid"] != uid for pod in pods),
            deadline=deadline, labels=self.selector, expected=f"{self.title}: another Pod in place of the killed one",
        )  # fmt: skip
        self.happened("kill")
        return str(killed["metadata"]["name"])

    def allow_lease(self) -> None:
        """Edit the ClusterRole system:kube-scheduler as the first document does, adding its lease's name."""
        if self.lease is not None and self.lease.own and roles.allow_lease(self._api, self.lease.name):
            self._granted = self.lease.name

    def _uninstall(self) -> None:
        """Remove its objects, pods, lease and role edit."""
        everything = [*self._reader, *self.objects]
        # The workload first, so that it does not live on without its rights.
        for obj in sorted(everything, key=lambda obj: obj["kind"] != "Deployment"):
            self._api.delete(_kind(obj), obj["metadata"]["name"], _where(obj))
        for kind in (REPLICA_SET, "Pod"):
            self._wait_until_gone(kind)
        # The lease last: a scheduler that still ran would make it anew.
        if self.lease is not None and self.lease.own:
            self._api.delete(LEASE, self.lease.name, self.lease.namespace)
        if self._granted is not None:
            roles.forbid_lease(self._api, self._granted)

    def left(self) -> list[str]:
        """Return what is still in the cluster of it: objects, pods, lease, role edit; empty after :meth:`uninstall`."""
        found = [
            f"{obj['kind']}/{obj['metadata']['name']}"
            for obj in [*self._reader, *self.objects]
            if self._api.get(_kind(obj), obj["metadata"]["name"], _where(obj)) is not None
        ]
        for kind in (REPLICA_SET, "Pod"):
            items, _ = self._api.list(kind, self.namespace, labels=self.selector)
            found += [f"{kind.rpartition('/')[2]}/{item['metadata']['name']}" for item in items]
        lease = self.lease
        if lease is not None and lease.own and self._api.get(LEASE, lease.name, lease.namespace) is not None:
            found.append(f"Lease/{lease.name}")
        if self._granted is not None and self._granted in roles.allowed_leases(self._api):
            found.append(f"{self._granted} in ClusterRole/{roles.ROLE}")
        return found

    def pods(self) -> list[Object]:
        """Return its pods, those that are being deleted included."""
        items, _ = self._api.list("Pod", self.namespace, labels=self.selector)
        return items

    def logs(self, *, lines: int = LOG_LINES, previous: bool = False) -> str:
        """Return the last lines of its pods' logs, each pod's under its name; "" where there is none."""
        parts = []
        for pod in self.pods():
            name = pod["metadata"]["name"]
            try:
                text = self._api.logs(
                    name, self.namespace, container=str(self._box["name"]), tail=lines, previous=previous
                )
            except Refused:
                continue  # not started yet, or gone by now; or there is no container before this one
            parts.append(f"==> {name} <==\n{text}")
        return "\n".join(parts)

    def metrics(self, *, authenticated: bool = True) -> tuple[int, str]:
        """Ask its Pod for /metrics from inside the node.

        Args:
            authenticated: With a token of a ServiceAccount of ours that may read it, or anonymously.

        Returns:
            HTTP status and body; see :func:`schedproof.deploy.metrics.attempts`.

        Raises:
            ApiError: There is no running pod, or it cannot be reached.
        """
        token = ""
        if authenticated:
            if not self._reader:
                path = data.manifests("kubernetes", "metrics-reader.yaml")
                self._reader = renamed(load(path), name=self.deployment, namespace=self.namespace, base="my-scheduler")
                for obj in self._reader:
                    self._api.apply(obj)
                endpoint.wait_until_allowed(self._api, self._reader[0])
            token = endpoint.token(self._api, self._reader[0])
        return endpoint.metrics(self._pod(), bundle.port(self._box), token)

    def evidence(self) -> dict[str, str]:
        """Return the Deployment as the cluster has it."""
        there = self._api.get(DEPLOYMENT, self.deployment, self.namespace)
        return {"deployment.yaml": yaml.safe_dump(redacted_object(there), sort_keys=False)} if there else {}

    def cause(self) -> str:
        """Return the likely cause of its not working, in one sentence; empty when nothing looks wrong."""
        pods = self.pods()
        log = self.logs() + "\n" + (self.logs(previous=True) if causes.stuck(pods) else "")
        unserved = causes.unserved(self.name, self.served)
        if unserved and pods and all(rollout.ready(pod) for pod in pods):
            return unserved
        likely = causes.likely(pods, log, self.findings(), wanted=self._replicas(), refused=self._not_created())
        return likely or unserved

    def _summary(self) -> list[str]:
        pods = self.pods()
        lines = [f"{self.title} serves {', '.join(self.served)}; {self._replicas()} replicas wanted"]
        lines += [rollout.described(pod) for pod in pods[:3]] or ["no Pod"]
        return lines + [f"log: {line[:240]}" for line in causes.telling(self.logs(), 3)]

    def _hopeless(self, pods: list[Object]) -> str | None:
        held = causes.stuck(pods)
        if held is None:
            return None
        said = causes.from_log(held.said)
        return f"{held}" + (f"\n{said}" if said else "")

    def _not_created(self) -> str:
        """Return why the Deployment cannot make its pods (no ServiceAccount, a quota), in the cluster's words."""
        deployment = self._api.get(DEPLOYMENT, self.deployment, self.namespace) or {}
        conditions = (deployment.get("status") or {}).get("conditions") or []
        return next((str(one.get("message")) for one in conditions if one["type"] == "ReplicaFailure"), "")

    def _wait_until_gone(self, kind: str) -> None:
        wait_until(
            self._api, kind, self.namespace, lambda found: not found, deadline=DELETE, labels=self.selector,
            expected=f"{self.title}: no {kind.rpartition('/')[2]} of it is left",
        )  # fmt: skip

    def _pod(self) -> Object:
        """Return the Pod to talk to: a ready one before one that is not, never one that is being deleted."""
        pods = sorted((pod for pod in self.pods() if not rollout.ending(pod)), key=lambda pod: not rollout.ready(pod))
        if not pods:
            raise ApiError(f"{self.title} has a Pod", seen="it has none", cure=self.cause())
        return pods[0]

    def _replicas(self) -> int:
        return int(self._workload["spec"].get("replicas", 1))

    @property
    def title(self) -> str:
        """Name and Deployment."""
        return f"scheduler {self.name} (Deployment {self.namespace}/{self.deployment})"

    @property
    def _workload(self) -> Object:
        found = bundle.workload(self.objects)
        assert found is not None  # noqa: S101 - the constructor refuses a bundle without it
        return found

    @property
    def _box(self) -> Object:
        return bundle.scheduler_container(self._workload) or {"name": ""}


def _labels(workload: Object) -> Object:
    """Return the labels of a workload's pods."""
    return (workload["spec"]["template"].get("metadata") or {}).get("labels") or {}


def _kind(obj: Object) -> str:
    return f"{obj['apiVersion']}/{obj['kind']}"


def _where(obj: Object) -> str:
    return str(obj["metadata"].get("namespace") or "")
