"""The pods of a claim: made, waited for, described."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from http import HTTPStatus

from schedproof.api import Api, Object, Refused
from schedproof.binder import events
from schedproof.errors import ClaimFailed, ClusterError
from schedproof.watch import state
from schedproof.watch.containers import is_bound, is_running, why_not_running
from schedproof.watch.deadlines import BIND, DELETE, RUN, Deadline
from schedproof.watch.wait import wait_until

DEFAULT_SCHEDULER = "default-scheduler"


class Pod:
    """One pod, known by its uid: another of the same name is not it.

    Attributes:
        name: Its name.
        namespace: Its namespace.
        uid: Its uid.
        scheduler: The ``schedulerName`` it asks for, as the API server understood it.
        made: The object as it was when it came into our hands.
    """

    def __init__(self, api: Api, made: Object) -> None:
        self._api = api
        meta = made["metadata"]
        self.name, self.namespace, self.uid = str(meta["name"]), str(meta["namespace"]), str(meta["uid"])
        self.scheduler = str(made["spec"].get("schedulerName") or DEFAULT_SCHEDULER)
        self.made = made

    def __repr__(self) -> str:
        """Return e.g. ``Pod(claim-1/pod3)``."""
        return f"Pod({self.namespace}/{self.name})"

    def current(self) -> Object:
        """Return the pod as it is now.

        Raises:
            ClaimFailed: It is gone, or another pod has its name.
        """
        found = self._api.get("Pod", self.name, self.namespace)
        if found is None or found["metadata"]["uid"] != self.uid:
            seen = "it is gone" if found is None else "it is gone, and another pod has its name"
            raise ClaimFailed(f"pod {self.name} still exists", seen=seen)
        return found

    def events(self) -> list[Object]:
        """Return the events about this pod (by uid), oldest first."""
        return events.about(self._api, self.uid, self.namespace)

    def scheduled_events(self) -> list[Object]:
        """Return the ``Scheduled`` events about this bound pod, after waiting for the first one."""
        return events.scheduled(self._api, self.uid, self.namespace)

    def wait_until_bound(self, deadline: Deadline = BIND) -> str:
        """Wait until a scheduler has bound the pod and return the node's name.

        Raises:
            WaitTimeout: Not bound within the deadline.
            Unreachable: The pod is gone or being deleted.
        """
        expected = f"pod {self.name} is bound (it asks for {self.scheduler})"
        return str(self._wait(is_bound, deadline, expected, _no_longer_bindable)["spec"]["nodeName"])

    def wait_until_running(self, deadline: Deadline = RUN) -> Object:
        """Wait until all its containers run and return the pod.

        Raises:
            WaitTimeout: Not running within the deadline.
            Unreachable: It cannot run any more, e.g. ErrImageNeverPull, CrashLoopBackOff.
        """
        return self._wait(is_running, deadline, f"pod {self.name} is running", why_not_running)

    def delete(self, *, grace: int | None = None) -> None:
        """Ask for its deletion; see :meth:`wait_until_gone`."""
        self._api.delete("Pod", self.name, self.namespace, grace=grace)

    def wait_until_gone(self, deadline: Deadline = DELETE) -> None:
        """Wait until the API server has no such pod any more.

        Raises:
            WaitTimeout: It is still there.
        """
        wait_until(
            self._api,
            "Pod",
            self.namespace,
            lambda found: self._own(found) is None,
            deadline=deadline,
            expected=f"pod {self.name} is gone",
            fields=f"metadata.name={self.name}",
        )

    def describe(self) -> str:
        """Return its state in a few lines for a message: phase, name asked for, node, conditions, last events."""
        found = self._api.get("Pod", self.name, self.namespace)
        if found is None or found["metadata"]["uid"] != self.uid:
            return f"Pod {self.namespace}/{self.name}: gone"
        told = self.events()[-4:]
        words = [events.line(event) for event in told] or ["no event about it"]
        return "\n".join([state.line(found), *("  " + line for line in words)])

    def _own(self, found: Iterable[Object]) -> Object | None:
        return next((pod for pod in found if pod["metadata"]["uid"] == self.uid), None)

    def _wait(
        self,
        ready: Callable[[Object], bool],
        deadline: Deadline,
        expected: str,
        hopeless: Callable[[Object], str | None],
    ) -> Object:
        def is_ready(found: Sequence[Object]) -> bool:
            pod = self._own(found)
            return pod is not None and ready(pod)

        def is_hopeless(found: Sequence[Object]) -> str | None:
            pod = self._own(found)
            return "the pod is gone" if pod is None else hopeless(pod)

        last = wait_until(
            self._api,
            "Pod",
            self.namespace,
            is_ready,
            deadline=deadline,
            expected=expected,
            hopeless=is_hopeless,
            fields=f"metadata.name={self.name}",
            describe=self._described,
        )
        pod = self._own(last)
        if pod is None:
            raise AssertionError(f"{expected}: is_ready saw it")
        return pod

    def _described(self, found: Sequence[Object]) -> str:
        """Return the last state seen, with the events: asked for at the end only."""
        told = [f"  {events.line(event)}" for event in self.events()[-4:]]
        return "\n".join([state.lines(found), *(told or ["  no event about it"])])


class Pods:
    """The pods of one namespace.

    Attributes:
        namespace: Where they are.
        made: Every pod that came through here, also those that are gone by now; what the invariants are checked for.
    """

    def __init__(self, api: Api, namespace: str) -> None:
        self._api = api
        self.namespace = namespace
        self.made: list[Pod] = []

    def apply(self, manifest: Object) -> Pod:
        """Create the pod of a manifest in this namespace, whatever namespace it names, and return it.

        It is always a new pod: one that is there already, perhaps bound long ago, would prove nothing.

        Raises:
            Refused: The API server refused it, also because there is one of that name.
            ClusterError: Its ServiceAccount was not there in time.
        """
        wanted: Object = {**manifest, "metadata": {**manifest["metadata"], "namespace": self.namespace}}
        try:
            made = self._api.create(wanted)
        except Refused as error:
            if not _too_early(error):
                raise
            self._wait_for_service_account(wanted)
            made = self._api.create(wanted)
        return self._keep(made)

    def get(self, name: str) -> Pod | None:
        """Return the pod of this name, if there is one."""
        found = self._api.get("Pod", name, self.namespace)
        return None if found is None else self._keep(found)

    def wait_until_made(self, labels: str, count: int, deadline: Deadline = BIND) -> list[Pod]:
        """Wait until a controller has made exactly ``count`` pods with these labels, bound or not, and return them.

        Raises:
            WaitTimeout: Fewer or more.
        """
        found = wait_until(
            self._api, "Pod", self.namespace, lambda pods: len(pods) == count, deadline=deadline, labels=labels,
            expected=f"{count} pods with {labels} are there",
        )  # fmt: skip
        return [self._keep(pod) for pod in sorted(found, key=lambda pod: str(pod["metadata"]["name"]))]

    def wait_until_all_bound(self, labels: str, count: int, deadline: Deadline = BIND) -> list[Pod]:
        """Wait until there are exactly ``count`` pods with these labels, each bound to a node, and return them.

        Raises:
            WaitTimeout: Others, fewer or more, or one that is not bound.
        """
        found = wait_until(
            self._api,
            "Pod",
            self.namespace,
            lambda pods: len(pods) == count and all(is_bound(pod) for pod in pods),
            deadline=deadline,
            expected=f"the {count} pods with {labels} are bound",
            labels=labels,
            describe=lambda pods: f"{len(pods)} pods, {sum(map(is_bound, pods))} bound\n" + state.lines(pods),
        )
        return [self._keep(pod) for pod in sorted(found, key=lambda pod: str(pod["metadata"]["name"]))]

    def wait_until_all_running(self, labels: str, count: int, deadline: Deadline = RUN) -> list[Pod]:
        """Wait until there are exactly ``count`` pods with these labels and all run, and return them.

        Raises:
            WaitTimeout: Not so within the deadline.
            Unreachable: One of them cannot run any more.
        """
        found = wait_until(
            self._api,
            "Pod",
            self.namespace,
            lambda pods: len(pods) == count and all(is_running(pod) for pod in pods),
            deadline=deadline,
            expected=f"the {count} pods with {labels} are running",
            hopeless=lambda pods: next((why for pod in pods if (why := why_not_running(pod))), None),
            labels=labels,
        )
        return [self._keep(pod) for pod in sorted(found, key=lambda pod: str(pod["metadata"]["name"]))]

    def list(self, labels: str = "") -> list[Pod]:
        """Return the pods that the label selector matches."""
        return [self._keep(found) for found in self._api.list("Pod", self.namespace, labels=labels)[0]]

    def _keep(self, found: Object) -> Pod:
        known = next((pod for pod in self.made if pod.uid == found["metadata"]["uid"]), None)
        if known is None:
            known = Pod(self._api, found)
            self.made.append(known)
        return known

    def _wait_for_service_account(self, manifest: Object) -> None:
        """A namespace's ServiceAccount ``default`` is made by a controller some milliseconds after the namespace."""
        name = manifest["spec"].get("serviceAccountName") or "default"
        try:
            wait_until(
                self._api,
                "ServiceAccount",
                self.namespace,
                bool,
                deadline=BIND,
                expected=f"ServiceAccount {name} exists in namespace {self.namespace}",
                fields=f"metadata.name={name}",
            )
        except ClaimFailed as error:  # no scheduler has a part in it
            raise ClusterError(
                error.message.expected,
                seen=error.message.seen,
                cause="nobody made it: kube-controller-manager for default, for another name whoever deploys the pod",
            ) from error


def _no_longer_bindable(pod: Object) -> str | None:
    if pod["metadata"].get("deletionTimestamp"):
        return "the pod is being deleted"
    phase = pod.get("status", {}).get("phase")
    return f"the pod has ended ({phase})" if phase in ("Failed", "Succeeded") else None


def _too_early(error: Refused) -> bool:
    return error.code == HTTPStatus.FORBIDDEN and "error looking up service account" in error.answer
