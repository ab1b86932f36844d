"""What every scheduler that runs in Pods can be asked, whoever makes the Pods."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schedproof import data
from schedproof.api import Refused
from schedproof.cluster import process
from schedproof.deploy import bundle, causes, endpoint, roles, rollout, standby
from schedproof.deploy.manifests import load, renamed
from schedproof.errors import ApiError, Unreachable, WaitTimeout
from schedproof.shapes.scheduler import LOG_LINES, Scheduler
from schedproof.watch.deadlines import DELETE, ROLLOUT, Deadline
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

LEASE = "coordination.k8s.io/v1/Lease"


class InPods(Scheduler):
    """A scheduler that runs in Pods; see :class:`Scheduler` for the arguments.

    Attributes:
        makes: Kinds of what the cluster makes of its workload, which carry its selector's labels and go with it.
    """

    makes: tuple[str, ...] = ("Pod",)

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], *, name: str = "", namespace: str) -> None:
        super().__init__(api, facts, objects, name=name, namespace=namespace)
        self._granted: str | None = None
        self._reader: list[Object] = []
        self._killed: dict[str, int] = {}

    @property
    @abstractmethod
    def selector(self) -> str:
        """Labels of its Pods, as a label selector."""

    @property
    def container(self) -> str:
        """The name of the container that runs the scheduler."""
        return str(self._box["name"])

    @property
    def identity(self) -> str:
        """The user that the API server sees, e.g. ``system:serviceaccount:kube-system:my-scheduler``."""
        return f"system:serviceaccount:{self.namespace}:{bundle.service_account(self._workload)}"

    def synced(self) -> str:
        """Return what ``/readyz?verbose`` says, one line a check: ``[+]`` passed, ``[-]`` failed.

        Synced is ``[+]sched-handler-sync ok``; all of it is well when the text ends with ``readyz check passed``.

        Raises:
            ApiError: There is no pod, or it does not answer.
        """
        return endpoint.readyz(self._api, self._pod(), bundle.port(self._box))

    def left(self) -> list[str]:
        """Return what is still in the cluster of it: objects, pods, lease, role edit; empty after :meth:`uninstall`."""
        found = [
            f"{obj['kind']}/{obj['metadata']['name']}"
            for obj in [*self._reader, *self.objects]
            if self._api.get(_kind(obj), obj["metadata"]["name"], _where(obj)) is not None
        ]
        for kind in self.makes:
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
                self._reader = renamed(
                    load(path),
                    name=str(self._workload["metadata"]["name"]),
                    namespace=self.namespace,
                    base="my-scheduler",
                )
                for obj in self._reader:
                    self._api.apply(obj)
                endpoint.wait_until_allowed(self._api, self._reader[0])
            token = endpoint.token(self._api, self._reader[0])
        return endpoint.metrics(self._pod(), bundle.port(self._box), token)

    def allow_lease(self, name: str = "") -> None:
        """Edit the ClusterRole system:kube-scheduler as the first document does, adding a lease's name.

        Args:
            name: By default that of its own lease; removed again when it is uninstalled.
        """
        name = name or (self.lease.name if self.lease is not None and self.lease.own else "")
        if name and roles.allow_lease(self._api, name):
            self._granted = name

    def kill_process(self) -> None:
        """Kill its process with SIGKILL in the node; the kubelet starts another, for which a later wait waits.

        Raises:
            ApiError: No container of it runs.
        """
        pod = self._pod()
        self._killed[pod["metadata"]["uid"]] = rollout.restarts(pod) + 1
        node, pid = process.of_container(pod, str(self._box["name"]))
        process.signal(node, pid, "KILL")
        self.happened("kill")

    def _ready(self, pod: Object) -> bool:
        """Whether a Pod is Ready, and not still so from before its process was killed."""
        return rollout.ready(pod) and rollout.restarts(pod) >= self._killed.get(pod["metadata"]["uid"], 0)

    def wait_until_restarted(self, deadline: Deadline = ROLLOUT) -> None:
        """Wait until the kubelet has restarted its container at least once.

        Raises:
            WaitTimeout: It has not.
        """
        wait_until(
            self._api, "Pod", self.namespace, lambda pods: any(rollout.restarts(pod) for pod in pods),
            deadline=deadline, labels=self.selector, expected=f"{self.title}: its container was restarted",
        )  # fmt: skip

    def signal(self, name: process.Signal, *, pod: Object | None = None) -> tuple[str, int]:
        """Send a signal to the scheduler's process in its node, behind the cluster's back.

        Args:
            name: ``KILL``, ``TERM``, ``STOP`` or ``CONT``.
            pod: Which Pod's; by default that of a ready one.

        Returns:
            Node and process id.

        Raises:
            ApiError: No container of it runs.
        """
        node, pid = process.of_container(pod or self._pod(), str(self._box["name"]))
        process.signal(node, pid, name)
        self.happened(name.lower())
        return node, pid

    def _deploy(self) -> None:
        for obj in self.objects:
            self._api.apply(obj)

    def begin_uninstall(self) -> None:
        """Remove its workload, and do not wait until its Pods are gone."""
        workload = self._workload
        self._api.delete(_kind(workload), workload["metadata"]["name"], _where(workload))

    def _uninstall(self) -> None:
        """Remove its objects, pods, lease and role edit."""
        workload = self._workload
        # The workload first, so that it does not live on without its rights.
        for obj in sorted([*self._reader, *self.objects], key=lambda obj: obj is not workload):
            self._api.delete(_kind(obj), obj["metadata"]["name"], _where(obj))
        for kind in self.makes:
            self._wait_until_gone(kind)
        # The lease last: a scheduler that still ran would make it anew.
        if self.lease is not None and self.lease.own:
            self._api.delete(LEASE, self.lease.name, self.lease.namespace)
        if self._granted is not None:
            roles.forbid_lease(self._api, self._granted)

    def _refuse_missing_references(self, expected: str) -> None:
        """Refuse to wait for what cannot come: an object that its Pod refers to and nobody brings."""
        missing = [found for found in self.findings() if found.id == "missing-reference"]
        if missing:
            raise Unreachable(f"{self.title}: {expected}", cause=str(missing[0]), cure=missing[0].cure)

    @contextlib.contextmanager
    def _with_cause(self) -> Iterator[None]:
        """Add its state and the likely cause to a wait that failed."""
        try:
            yield
        except (Unreachable, WaitTimeout) as error:
            told = error.message
            state = "\n".join(self._summary())
            raise type(error)(
                told.expected, seen=told.seen, scheduler=state, cause=self.cause() or told.cause
            ) from error

    def _replicas(self) -> int:
        """Return how many Pods of it should be there."""
        return 1

    def _not_created(self) -> str:
        """Return why its Pods cannot be made, in the cluster's words."""
        return ""

    def cause(self) -> str:
        """Return the likely cause of its not working, in one sentence; empty when nothing looks wrong."""
        pods = self.pods()
        log = self.logs() + "\n" + (self.logs(previous=True) if causes.stuck(pods) else "")
        unserved = causes.with_cure(causes.unserved(self.name, self.served), causes.RENAME)
        if unserved and pods and all(rollout.ready(pod) for pod in pods):
            return unserved
        likely = causes.likely(
            pods, log, self.findings(), wanted=self._wanted(), refused=self._not_created(), standby=self._standby(pods)
        )
        return likely or unserved

    def _standby(self, pods: Sequence[Object]) -> str:
        """Return that another than its Pods holds the lease that it waits for."""
        if self.lease is None:
            return ""
        return standby.behind(self._api.get(LEASE, self.lease.name, self.lease.namespace), pods)

    def _wanted(self) -> int:
        """Return how many Pods of it the cluster wants now, whoever said so."""
        return self._replicas()

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

    @property
    def _workload(self) -> Object:
        found = bundle.workload(self.objects)
        assert found is not None  # noqa: S101 - the constructor refuses a bundle without it
        return found

    @property
    def _box(self) -> Object:
        return bundle.scheduler_container(self._workload) or {"name": ""}


def _kind(obj: Object) -> str:
    return f"{obj['apiVersion']}/{obj['kind']}"


def _where(obj: Object) -> str:
    return str(obj["metadata"].get("namespace") or "")
