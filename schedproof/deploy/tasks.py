"""What a scheduler gets done for three small pods: the tasks that its rights are for."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import TYPE_CHECKING

import tenacity

from schedproof.binder import events
from schedproof.errors import ApiError, ClaimFailed
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import BIND, Deadline

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.pods import Pods
    from schedproof.shapes.deployment import Deployment

BINDS = "binds a pod"
TELLS = "tells of it by a Scheduled event"
EXPLAINS = "gives a pod that fits nowhere the condition PodScheduled=False"
PLACES_VOLUMES = "chooses the node of a volume that waits for its consumer"
AUTHENTICATES = "lets somebody who may read them read its metrics"
ALL = frozenset({BINDS, TELLS, EXPLAINS, PLACES_VOLUMES, AUTHENTICATES})

SELECTED_NODE = "volume.kubernetes.io/selected-node"
STEP = 0.5
"""Seconds between two looks."""


class Tasks:
    """The tasks of one scheduler.

    Args:
        api: The cluster.
        pods: Where its pods are made.
        scheduler: The scheduler, whose bundle has the :func:`storage_class` of its name.
        pod: An ordinary pod's manifest, which asks for it.
    """

    def __init__(self, api: Api, pods: Pods, scheduler: Deployment, pod: Object) -> None:
        self._api, self._scheduler, self._namespace = api, scheduler, pods.namespace
        name = self._claim = scheduler.name
        claim = {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"storageClassName": name, "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Mi"}}},
        }  # fmt: skip
        api.create(claim, self._namespace)
        self.plain = pods.apply(_named(pod, f"plain-{name}"))
        self.hopeless = pods.apply(_named(pod, f"hopeless-{name}", nodeSelector={"schedproof.io/no": "such-node"}))
        volume = {"name": "volume", "persistentVolumeClaim": {"claimName": name}}
        self.with_volume = pods.apply(_named(pod, f"volume-{name}", volumes=[volume]))

    def done(self) -> frozenset[str]:
        """Return which tasks are done by now."""
        told = [event.get("reason") for event in self.plain.events()]
        conditions = (self.hopeless.current().get("status") or {}).get("conditions") or []
        claim = self._api.get("PersistentVolumeClaim", self._claim, self._namespace) or {"metadata": {}}
        done = {
            BINDS: bool(self.plain.current()["spec"].get("nodeName")),
            TELLS: events.SCHEDULED in told,
            EXPLAINS: any(one["type"] == "PodScheduled" and one["status"] == "False" for one in conditions),
            PLACES_VOLUMES: SELECTED_NODE in (claim["metadata"].get("annotations") or {}),
        }
        # The dearest question last: it is asked from inside the node.
        done[AUTHENTICATES] = any(done.values()) and self._authenticates()
        return frozenset(task for task, is_done in done.items() if is_done)

    def assert_done(self, wanted: Collection[str], *, deadline: Deadline = BIND) -> None:
        """Assert that these tasks get done, and no others by then.

        Raises:
            ClaimFailed: One is not done in time, or one is that should not be.
        """
        asking = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda done: not done >= set(wanted)),
            stop=tenacity.stop_after_delay(deadline.seconds),
            wait=tenacity.wait_fixed(STEP),
            retry_error_callback=lambda last: last.outcome.result() if last.outcome else frozenset(),
        )
        with waiting():
            done = asking(self.done)
        missing, surplus = sorted(set(wanted) - done), sorted(done - set(wanted))
        if missing or surplus:
            seen = [f"it does not: {task}" for task in missing] + [f"it does all the same: {task}" for task in surplus]
            raise ClaimFailed(
                f"{self._scheduler.name} {' and '.join(sorted(wanted)) or 'gets nothing done'}, within {deadline}",
                seen="\n".join(seen),
                scheduler=self._scheduler.state(),
            )

    def _authenticates(self) -> bool:
        try:
            return self._scheduler.metrics()[0] == 200  # noqa: PLR2004 - HTTP's OK
        except ApiError:
            return False  # it does not run yet


def storage_class(scheduler: str, labels: Object) -> Object:
    """Return a class of volumes that wait for their consumer, and that nobody provides."""
    return {
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": scheduler, "labels": labels},
        "provisioner": "schedproof.io/nobody", "volumeBindingMode": "WaitForFirstConsumer",
    }  # fmt: skip


def _named(pod: Object, name: str, **spec: object) -> Object:
    made = copy.deepcopy(pod)
    made["metadata"]["name"] = name
    made["spec"].update(spec)
    return made
