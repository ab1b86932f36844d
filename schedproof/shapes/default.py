"""The control plane's own scheduler, which kubeadm runs as a static Pod: stopped, replaced and put back as it was."""

from __future__ import annotations

import copy
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import yaml

from schedproof.binder import DEFAULT
from schedproof.cluster import process
from schedproof.cluster.node import image_id, run_in_node
from schedproof.deploy import bundle
from schedproof.errors import ApiError, UsageError
from schedproof.shapes import node_files
from schedproof.shapes.static_pod import MANIFESTS, WRITTEN_AT
from schedproof.watch.deadlines import DELETE, ROLLOUT
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

MANIFEST = f"{MANIFESTS}/kube-scheduler.yaml"
ORIGINAL = "/var/lib/schedproof/originals/kube-scheduler.yaml"
"""In the node, while the default scheduler is not what kubeadm made it: its manifest, byte for byte."""

CONFIG = "/etc/kubernetes/schedproof-default/scheduler-config.yaml"
"""In the node and in the Pod: the configuration of a replaced default scheduler."""

LEASE, NAMESPACE = "kube-scheduler", "kube-system"

_KEEP = 'mkdir -p "$(dirname "$2")"; [ -e "$2" ] || { cp -p "$1" "$2.part" && mv "$2.part" "$2"; }'
_RESTORE = r"""
set -e
[ -e "$2" ] || exit 3
part="$(dirname "$1")/.kube-scheduler.part"
cp -p "$2" "$part"
mv "$part" "$1"
rm -rf -- "$2" "$(dirname "$3")"
"""
NOTHING = 3
"""Exit code of the script above when there is nothing to restore."""


class DefaultScheduler:
    """The scheduler that binds pods which name none; for clusters of one's own.

    Args:
        api: The cluster.
        facts: What is known of it.

    Attributes:
        name: ``default-scheduler``.
        identity: As whom it asks the API server, also when it is replaced: with kubeadm's own kubeconfig.

    Raises:
        UsageError: The cluster is not ours to touch, or its control plane cannot be entered.
    """

    name, identity = DEFAULT.name, DEFAULT.identity

    def __init__(self, api: Api, facts: Facts) -> None:
        if not facts.owned or len(facts.control_planes) != 1:
            raise UsageError(
                "the default scheduler is touched in a cluster of schedproof's own with one control plane",
                seen=f"{facts.name}: {len(facts.control_planes)} that are known"
                + ("" if facts.owned else ", not ours"),
                cure="leave EXISTING_KUBECONFIG out",
            )
        self._api, self._facts = api, facts
        self.node = facts.control_planes[0]
        self.pod = f"kube-scheduler-{self.node}"

    def stop(self) -> float:
        """Take its manifest away, and wait until its process has ended and its mirror Pod is gone.

        Returns:
            ``time.time()`` at which it was certain.

        Raises:
            WaitTimeout: Something of it was still there after the deadline.
        """
        self._keep_original()
        running = process.of_pod(self.node, self.pod)
        node_files.remove(self.node, [MANIFEST])
        for pid in running:
            process.wait_until_ended(self.node, pid, DELETE)
        wait_until(
            self._api, "Pod", NAMESPACE, lambda found: not found, deadline=DELETE,
            fields=f"metadata.name={self.pod}", expected="the default scheduler's mirror Pod is gone",
        )  # fmt: skip
        return time.time()

    def replace(self, *, image: str = "", command: str = "", config: str = "") -> None:
        """Let another program, or the same one with a configuration file, run in its place, and wait until it leads.

        Everything else of kubeadm's manifest stays: kubeconfig, lease, host network.

        Args:
            image: Another image; it is on the nodes already.
            command: Path of the program in that image.
            config: Text of a KubeSchedulerConfiguration; the kubeconfig is written into it, since beside ``--config``
                the flag is ignored.

        Raises:
            WaitTimeout: It did not become leader in time.
        """
        self._keep_original()
        manifest = _replaced(yaml.safe_load(run_in_node(self.node, ["cat", ORIGINAL]).stdout), image, command, config)
        self.stop()
        if config:
            node_files.write(self.node, CONFIG, yaml.safe_dump(_with_kubeconfig(config), sort_keys=False))
        self._start(manifest)

    def start(self, *, leads: bool = True) -> None:
        """Put the original back beside its kept copy, and wait until it runs (and leads)."""
        self._start(yaml.safe_load(run_in_node(self.node, ["cat", ORIGINAL]).stdout), leads=leads)

    def restore(self) -> bool:
        """Put everything back as kubeadm made it, wait until it leads, and return whether there was anything to do.

        Raises:
            WaitTimeout: It did not become leader in time.
        """
        if not self.touched():
            return False
        self.stop()
        restore_files(self.node)
        self._wait_until_running()
        self.wait_until_leads()
        return True

    def touched(self) -> bool:
        """Return whether it is at the moment, or may be, another than kubeadm's."""
        return bool(node_files.present(self.node, [ORIGINAL]))

    def current(self) -> Object | None:
        """Return its mirror Pod; None while there is none."""
        return self._api.get("Pod", self.pod, NAMESPACE)

    def runs_image(self) -> str:
        """Return the id (config digest) of the image that its container runs; "" when none runs."""
        statuses = ((self.current() or {}).get("status") or {}).get("containerStatuses") or []
        running = next((str(one.get("imageID") or "") for one in statuses), "")
        return image_id(self.node, running) if "@" in running else running

    def holder(self) -> str:
        """Return who holds the default scheduler's lease; "" when nobody does."""
        lease = self._api.get("Lease", LEASE, NAMESPACE) or {}
        return str((lease.get("spec") or {}).get("holderIdentity") or "")

    def _keep_original(self) -> None:
        run_in_node(self.node, ["sh", "-c", _KEEP, "sh", MANIFEST, ORIGINAL])

    def _start(self, manifest: dict[str, Any], *, leads: bool = True) -> None:
        written = datetime.now(UTC).isoformat()
        manifest["metadata"].setdefault("annotations", {})[WRITTEN_AT] = written
        node_files.write(self.node, MANIFEST, yaml.safe_dump(manifest, sort_keys=False), mode="0600")
        self._wait_until_running(written)
        if leads:
            self.wait_until_leads()

    def _wait_until_running(self, written: str = "") -> None:
        """Wait for its container, not for Ready: kubeadm's start-up probe looks for the first time after 10 s."""

        def runs(pods: list[Object]) -> bool:
            return any(
                (pod["metadata"].get("annotations") or {}).get(WRITTEN_AT, "") == written
                and any((one.get("state") or {}).get("running") for one in pod["status"].get("containerStatuses") or [])
                for pod in pods
            )

        wait_until(
            self._api, "Pod", NAMESPACE, runs, deadline=ROLLOUT, fields=f"metadata.name={self.pod}",
            expected="the control plane's own scheduler runs",
        )  # fmt: skip

    def wait_until_leads(self, holder: str = "") -> float:
        """Wait until a process holds the default scheduler's lease and has renewed it since now.

        Args:
            holder: With what its identity begins; by default the control plane's own scheduler.

        Returns:
            ``time.time()`` at which it was certain.

        Raises:
            WaitTimeout: Nobody of that name did in time.
        """
        since, holder = datetime.now(UTC).timestamp(), holder or f"{self.node}_"

        def leads(leases: list[Object]) -> bool:
            spec: dict[str, Any] = leases[0].get("spec") or {} if leases else {}
            renewed = datetime.fromisoformat(spec.get("renewTime") or "1970-01-01T00:00:00Z").timestamp()
            return str(spec.get("holderIdentity") or "").startswith(holder) and renewed > since

        wait_until(
            self._api, "Lease", NAMESPACE, leads, deadline=ROLLOUT, fields=f"metadata.name={LEASE}",
            expected=f"{holder.rstrip('_')} holds the lease {NAMESPACE}/{LEASE}",
        )  # fmt: skip
        return time.time()


def restore_files(node: str) -> bool:
    """Put kubeadm's manifest back, byte for byte; return whether it had been away.

    Raises:
        ApiError: The node has neither.
    """
    done = run_in_node(node, ["sh", "-c", _RESTORE, "sh", MANIFEST, ORIGINAL, CONFIG], check=False)
    if done.code not in (0, NOTHING):
        raise ApiError(
            f"{MANIFEST} of {node} is put back",
            seen=done.stderr.strip(),
            cure=f"the original is in {ORIGINAL} of that node; or remove the cluster (make clean)",
        )
    return done.code == 0


def _replaced(original: dict[str, Any], image: str, command: str, config: str) -> dict[str, Any]:
    """Return kubeadm's manifest with another program or a configuration file."""
    manifest = copy.deepcopy(original)
    box = bundle.scheduler_container(manifest) or {}
    if image:
        box["image"], box["imagePullPolicy"] = image, "IfNotPresent"
    if command:
        box["command"] = [command, *box["command"][1:]]
    if config:
        box["command"] = [*box["command"], f"--config={CONFIG}"]
        box["volumeMounts"] = [*(box.get("volumeMounts") or []), {"name": "config", "mountPath": CONFIG}]
        volume = {"name": "config", "hostPath": {"path": CONFIG, "type": "File"}}
        manifest["spec"]["volumes"] = [*manifest["spec"]["volumes"], volume]
    return manifest


def _with_kubeconfig(config: str) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(config)
    content.setdefault("clientConnection", {}).setdefault("kubeconfig", "/etc/kubernetes/scheduler.conf")
    return content
