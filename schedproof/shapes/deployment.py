"""A second scheduler as a Deployment: deployed, watched, scaled, killed and taken away again without a trace."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import yaml

from schedproof.deploy import bundle, endpoint, rollout
from schedproof.errors import UsageError
from schedproof.evidence.redaction import redacted_object
from schedproof.shapes.in_pods import InPods
from schedproof.watch.deadlines import ROLLOUT, Deadline
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

DEPLOYMENT, REPLICA_SET = "apps/v1/Deployment", "apps/v1/ReplicaSet"


class Deployment(InPods):
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

    makes = (REPLICA_SET, "Pod")

    @property
    def selector(self) -> str:
        """Labels of its pods, as a label selector."""
        labels = (self._workload["spec"].get("selector") or {}).get("matchLabels") or {}
        return ",".join(f"{key}={value}" for key, value in labels.items())

    def _wait_until_ready(self, deadline: Deadline) -> None:
        """Wait until the rollout is complete, every pod Ready, and the running image the one under test."""
        wanted = self._replicas()
        if wanted:
            self._refuse_missing_references(f"{wanted} of {wanted} pods Ready")
        with self._with_cause():
            pods = self._wait_for_pods(wanted, deadline)
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
            lambda pods: len(pods) == wanted and all(map(self._ready, pods)),
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

    def replace(self, objects: Sequence[Object]) -> Self:
        """Apply another bundle of the same scheduler over what is deployed, and return at once.

        What only the old bundle has stays, and is removed by :meth:`uninstall`. A binding whose roleRef differs is made
        anew: the API server lets nobody change it. Pods are rolled only if their template or a ConfigMap differs.

        Raises:
            ApiError: The API server refused an object.
        """
        fresh = Deployment(self._api, self._facts, objects, name=self.name)
        of_old = {_key(obj): obj for obj in self.objects}
        for obj in fresh.objects:
            before = of_old.pop(_key(obj), obj)
            if before.get("roleRef") != obj.get("roleRef"):
                self._api.delete(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace") or "")
            self._api.apply(obj)
        self.objects = [*fresh.objects, *of_old.values()]
        self.served, self.lease, self._mark = fresh.served, fresh.lease, fresh._mark
        self.happened("replace")
        return self

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

    def evidence(self) -> dict[str, str]:
        """Return the Deployment as the cluster has it."""
        there = self._api.get(DEPLOYMENT, self.deployment, self.namespace)
        return {"deployment.yaml": yaml.safe_dump(redacted_object(there), sort_keys=False)} if there else {}

    def _not_created(self) -> str:
        """Return why the Deployment cannot make its pods (no ServiceAccount, a quota), in the cluster's words."""
        deployment = self._api.get(DEPLOYMENT, self.deployment, self.namespace) or {}
        conditions = (deployment.get("status") or {}).get("conditions") or []
        return next((str(one.get("message")) for one in conditions if one["type"] == "ReplicaFailure"), "")

    def _wanted(self) -> int:
        """Return the replicas that the cluster's Deployment asks for: somebody may have scaled it."""
        deployment = self._api.get(DEPLOYMENT, self.deployment, self.namespace) or {}
        return int((deployment.get("spec") or {}).get("replicas", self._replicas()))

    def _replicas(self) -> int:
        return int(self._workload["spec"].get("replicas", 1))

    @property
    def title(self) -> str:
        """Name and Deployment."""
        return f"scheduler {self.name} (Deployment {self.namespace}/{self.deployment})"


def _key(obj: Object) -> tuple[str, str, str]:
    return obj["kind"], str(obj["metadata"].get("namespace") or ""), str(obj["metadata"]["name"])


def _labels(workload: Object) -> Object:
    """Return the labels of a workload's pods."""
    return (workload["spec"]["template"].get("metadata") or {}).get("labels") or {}
