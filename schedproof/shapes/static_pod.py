"""A second scheduler as a static Pod: a file in a control plane's manifests folder, run by its kubelet alone."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

from schedproof.cluster import process
from schedproof.deploy import bundle
from schedproof.errors import UsageError
from schedproof.shapes import certificate, node_files
from schedproof.shapes.pod import BarePod
from schedproof.watch.deadlines import DELETE

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

MANIFESTS = "/etc/kubernetes/manifests"
"""Where kubeadm lets the kubelet look for static Pods."""

FOLDER = "/etc/kubernetes/schedproof"
"""Where the files are that such Pods mount, one folder each."""

WRITTEN_AT = "schedproof.io/written"
"""Annotation of a static Pod: when its file was written."""

WRITTEN = ("Pod", "ConfigMap")
"""Kinds of the bundle that become files of the node instead of objects of the cluster."""


class StaticPod(BarePod):
    """One second scheduler that is a static Pod on a control plane, known by a client certificate.

    Its ConfigMap is written as a file, beside a kubeconfig; the Pod's ``hostPath`` volume and its port are made its
    own, so that several live side by side on the host's network.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: The bundle, under names of its own: bindings of a User, a ConfigMap with the configuration, the Pod.
        name: The schedulerName that its pods ask for; by default the first one that its configuration serves.

    Raises:
        UsageError: The bundle has no Pod, or its bindings name no User.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], name: str = "") -> None:
        super().__init__(api, facts, objects, name)
        if not bundle.user(objects):
            raise UsageError(
                "the bindings of a static Pod's bundle name the User of its client certificate",
                seen="no subject of kind User",
                cure="see manifests/kubernetes/static-pod",
            )
        if not facts.control_planes:
            raise UsageError("a static Pod runs on a control plane that can be entered", seen="none is known")
        self.node = facts.control_planes[0]
        self.manifest = f"{MANIFESTS}/{self.pod}.yaml"
        self.folder = f"{FOLDER}/{self.pod}"
        _set_port(self._box, free_port(self.pod))
        for volume in bundle.pod_spec(self._workload).get("volumes") or []:
            if "hostPath" in volume:
                volume["hostPath"]["path"] = self.folder

    @property
    def identity(self) -> str:
        """The user in its client certificate."""
        return bundle.user(self.objects)

    @property
    def title(self) -> str:
        """Name and static Pod."""
        return f"scheduler {self.name} (static Pod {self.namespace}/{self.pod}-{self.node})"

    def delete_mirror(self) -> None:
        """Delete its mirror Pod, which is but its shadow in the API; the kubelet makes another within two minutes.

        Raises:
            ApiError: There is none.
        """
        self._api.delete("Pod", self._pod()["metadata"]["name"], self.namespace, grace=0)
        self.happened("mirror")

    def process_ids(self) -> list[int]:
        """Return its processes, as the node knows them: also while it has no mirror Pod."""
        return process.of_pod(self.node, f"{self.pod}-{self.node}")

    def remove_manifest(self) -> float:
        """Take its file away and wait until its process has ended and its mirror Pod is gone.

        Returns:
            ``time.time()`` at which it was certain.

        Raises:
            WaitTimeout: Something of it was still there after the deadline.
        """
        running = self.process_ids()
        node_files.remove(self.node, [self.manifest])
        for pid in running:
            process.wait_until_ended(self.node, pid, DELETE)
        self._wait_until_gone("Pod")
        when = time.time()
        self.happened("delete")
        return when

    def evidence(self) -> dict[str, str]:
        """Return the manifest as it was written."""
        return {"static-pod.yaml": yaml.safe_dump(self._workload, sort_keys=False)}

    def left(self) -> list[str]:
        """Return what is still there of it, files of the node included."""
        return [*super().left(), *node_files.present(self.node, [self.manifest, self.folder])]

    def _refuse_to_overwrite(self) -> None:
        if node_files.present(self.node, [self.manifest]):
            raise UsageError(
                f"{self.node} has no {self.manifest}", seen="it has", cure="give the scheduler another name"
            )

    def _deploy(self) -> None:
        node_files.announce(self.node, self.pod, [self.manifest, self.folder])
        for obj in self.objects:
            if obj["kind"] not in WRITTEN:
                self._api.apply(obj)
        for config in bundle.configs(self.objects):
            node_files.write(self.node, f"{self.folder}/{config.key}", config.config_map["data"][config.key])
        if path := bundle.kubeconfig(self.objects):
            text = certificate.kubeconfig(self._facts, self.identity)
            node_files.write(self.node, f"{self.folder}/{PurePosixPath(path).name}", text, mode="0600")
        # Its uid is a hash of the manifest: written a second time unchanged, it would begin with the first one's end.
        self._workload["metadata"].setdefault("annotations", {})[WRITTEN_AT] = datetime.now(UTC).isoformat()
        # The manifest last: the kubelet starts it the moment it is there.
        node_files.write(self.node, self.manifest, yaml.safe_dump(self._workload, sort_keys=False), mode="0600")

    def _uninstall(self) -> None:
        self.remove_manifest()
        node_files.remove(self.node, [self.folder])
        node_files.forget(self.node, self.pod)
        super()._uninstall()


def free_port(name: str) -> int:
    """Return a port of the host for a scheduler of this name: below the ports of NodePort Services, and its own."""
    return 20000 + zlib.crc32(name.encode()) % 9000


def _set_port(box: dict[str, Any], port: int) -> None:
    """Let a container, and its probes, use another port than the one in its manifest."""
    old = bundle.port(box)
    for field in ("command", "args"):
        if box.get(field):
            box[field] = [f"--secure-port={port}" if word == f"--secure-port={old}" else word for word in box[field]]
    for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
        get = (box.get(probe) or {}).get("httpGet") or {}
        if get.get("port") == old:
            get["port"] = port
