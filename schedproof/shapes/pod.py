"""A second scheduler as a bare Pod: the kubelet restarts its container, nobody replaces the Pod."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedproof.deploy import bundle, endpoint
from schedproof.errors import UsageError
from schedproof.shapes.in_pods import InPods
from schedproof.watch.deadlines import Deadline
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts


class BarePod(InPods):
    """One second scheduler that is a Pod, as the second document's ``my-custom-scheduler``.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: The bundle, under names of its own, with a Pod that runs the scheduler.
        name: The schedulerName that its pods ask for; by default the first one that its configuration serves.

    Raises:
        UsageError: The bundle has no such Pod.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], name: str = "") -> None:
        workload = bundle.workload(objects)
        if workload is None or workload["kind"] != "Pod":
            raise UsageError(
                "the manifests hold a Pod that runs the scheduler",
                seen=", ".join(sorted({obj["kind"] for obj in objects})) or "nothing",
                cure="add it, see manifests/kubernetes/custom-scheduler-pod",
            )
        super().__init__(api, facts, objects, name=name, namespace=bundle.namespace(workload))
        self.pod = str(workload["metadata"]["name"])

    @property
    def title(self) -> str:
        """Name and Pod."""
        return f"scheduler {self.name} (Pod {self.namespace}/{self.pod})"

    @property
    def selector(self) -> str:
        """Labels of its Pod, as a label selector."""
        labels = self._workload["metadata"].get("labels") or {}
        return ",".join(f"{key}={value}" for key, value in labels.items())

    def delete_pod(self) -> float:
        """Delete the Pod alone, and wait until it is gone: nobody makes another one.

        Returns:
            ``time.time()`` at which it was certain.

        Raises:
            WaitTimeout: It was still there after the deadline.
        """
        self._api.delete("Pod", self.pod, self.namespace, grace=1)
        self._wait_until_gone("Pod")
        when = time.time()
        self.happened("delete")
        return when

    def _refuse_to_overwrite(self) -> None:
        if self._api.get("Pod", self.pod, self.namespace) is not None:
            raise UsageError(
                f"no Pod {self.namespace}/{self.pod} is in the cluster",
                seen="somebody else made it",
                cure="use another cluster, or give the scheduler another name",
            )

    def _wait_until_ready(self, deadline: Deadline) -> None:
        self._refuse_missing_references("its Pod is Ready")
        with self._with_cause():
            pods = wait_until(
                self._api, "Pod", self.namespace, lambda found: bool(found) and all(map(self._ready, found)),
                deadline=deadline, labels=self.selector, expected=f"{self.title}: its Pod is Ready",
                hopeless=self._hopeless,
            )  # fmt: skip
        for pod in pods:
            endpoint.check_image(pod, self._workload, self._facts)
