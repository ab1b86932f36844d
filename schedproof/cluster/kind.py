"""The kind cluster: pytest-kind's KindCluster, without its downloads, its litter and its surprises.

The one module that knows pytest-kind. kind is always the given program, the kubeconfig always a file of ours, and
kind's own record (labels on containers) the only one of what exists.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pykube
from pytest_kind import KindCluster

from schedproof.cluster import config, failure, loading, ready
from schedproof.cluster.facts import Facts
from schedproof.cluster.node import Node, nodes, pause_image
from schedproof.cluster.owner import Ownership, Record
from schedproof.cluster.removal import ENVIRONMENT, remove
from schedproof.cluster.signals import shielded
from schedproof.command import CommandFailed, run
from schedproof.errors import ClusterError, HarnessError, ProgramError, UsageError
from schedproof.kubectl import kubectl
from schedproof.progress import progress

CREATE_SECONDS = 600.0
"""Deadline of ``kind create cluster``; 21 s on two idle cores. kubeadm's own limits (4 min each) end it earlier."""


class Cluster(KindCluster):
    """One kind cluster of ours, from its creation to its removal.

    Args:
        record: Name, node image, nodes and the kind program.
        ownership: The right to the name, held by this process.
        kubectl: The kubectl program.
        kubernetes: Version of the node image.
    """

    def __init__(self, record: Record, ownership: Ownership, *, kubectl: Path, kubernetes: str) -> None:
        # KindCluster makes `.pytest-kind/NAME` in the working folder: an absolute NAME leads it to a folder of ours.
        super().__init__(
            str(record.folder),
            kubeconfig=record.folder / "kubeconfig",
            image=record.node_image,
            kind_path=Path(record.kind),
            kubectl_path=kubectl,
        )
        refuse_users_own(self.kubeconfig_path)
        self.name = record.name
        self.record = record
        self.kubernetes = kubernetes
        self._ownership = ownership
        self._given_up = threading.Event()

    @property
    def api(self) -> Any:
        """A pykube client, as KindCluster has one; schedproof itself uses :class:`schedproof.api.Api`."""
        return pykube.HTTPClient(pykube.KubeConfig.from_file(self.kubeconfig_path))

    def ensure_kind(self) -> None:
        """Check that the kind program is there; never download one.

        Raises:
            ProgramError: It is not there.
        """
        _require_program(self.kind_path, "kind")

    def ensure_kubectl(self) -> None:
        """Check that the kubectl program is there; never download one.

        Raises:
            ProgramError: It is not there.
        """
        _require_program(self.kubectl_path, "kubectl")

    def nodes(self) -> list[Node]:
        """Return the node containers as the engine knows them, also stopped ones."""
        return nodes(self.name)

    def create(self, config_file: str | Path | None = None) -> None:
        """Make the cluster and wait until all its nodes are Ready; on any failure keep the logs and remove it.

        Args:
            config_file: kind configuration; by default the one of manifests/kind/ for this number of nodes.

        Raises:
            ClusterError: It could not be made; the message says at which step and why.
            Terminated: A signal came; everything was removed.
        """
        self.ensure_kind()
        self.ensure_kubectl()
        path = Path(config_file) if config_file else config.write(self.record.folder, self.record.nodes)
        self._ownership.write(self.record)
        try:
            self._kind_create(path)
            self._wait_until_ready()
            self._ownership.phase("ready")
        except BaseException as error:
            self._given_up.set()
            self._remove_after(error)
            raise

    def _kind_create(self, path: Path) -> None:
        stage = ""
        output: list[str] = []
        with progress.step(f"kind cluster {self.name}: {self.record.nodes} node(s), {self.image}") as step:

            def hear(line: str) -> None:
                nonlocal stage
                output.append(line)
                if line.strip().startswith("•"):
                    stage = line.strip(" •.")
                    step.note(stage)

            try:
                # --retain: the containers are needed for their logs; we remove them ourselves.
                self._kind(
                    *("create", "cluster", "--config", path, "--image", str(self.image), "--name", self.name),
                    *("--kubeconfig", self.kubeconfig_path, "--retain"),
                    seconds=CREATE_SECONDS,
                    on_line=hear,
                )
            except CommandFailed as error:
                self._given_up.set()
                seen = error.message.seen.splitlines()[0]
                raise failure.explain(self.name, seen, stage, "\n".join(output)) from error
            if not self.kubeconfig_path.exists() or not self.kubeconfig_path.stat().st_size:
                raise failure.explain(self.name, "kind failed to write kubeconfig", stage, "\n".join(output))
            self.kubeconfig_path.chmod(0o600)

    def _wait_until_ready(self) -> None:
        with progress.step("waiting for all nodes to be Ready"):
            try:
                ready.wait_until_ready(self)
            except ClusterError as error:
                failure.with_evidence(error, failure.collect(self.name))
                raise

    def _remove_after(self, error: BaseException) -> None:
        """Remove what is there of a cluster that failed; a second fault is told but never replaces the first."""
        try:
            self.delete(settle=True)
        except HarnessError as fault:
            error.add_note(f"and afterwards: {fault}")
            progress.line(f"! the cluster {self.name} could not be removed either:\n{fault}")

    def _kind(self, *args: str | Path, seconds: float, on_line: Callable[[str], None] | None = None) -> None:
        run([self.kind_path, *args], seconds=seconds, env=ENVIRONMENT, on_line=on_line)

    def wait_until_loadable(self) -> None:
        """Wait until every node container runs its containerd, which is long before kubeadm is done.

        Raises:
            ClusterError: The creation was given up meanwhile, or the deadline passed.
        """
        loading.wait_until_loadable(self.name, self.record.nodes, self._given_up)

    def load(self, image: str) -> str:
        """Load an image of the engine into all nodes side by side and check that each has it.

        Returns:
            Its config digest, under which running containers report it.

        Raises:
            ImageError: It is not in the engine, cannot be imported, or arrives as another image.
        """
        return loading.load(image, [node.name for node in self.nodes()], self.record.folder)

    def load_docker_image(self, docker_image: str) -> None:
        """KindCluster's name for :meth:`load`."""
        self.load(docker_image)

    def kubectl(self, *args: str, **kwargs: Any) -> str:
        """Run kubectl against this cluster and return what it printed.

        Args:
            args: kubectl's arguments.
            kwargs: ``seconds`` (deadline, 60 by default), ``input`` (text for standard input).

        Raises:
            CommandFailed: kubectl failed.
        """
        self.ensure_kubectl()
        seconds = float(kwargs.pop("seconds", 60.0))
        return kubectl(
            self.kubectl_path, self.kubeconfig_path, *args, seconds=seconds, stdin=kwargs.pop("input", None)
        ).stdout

    def facts(self) -> Facts:
        """Return what is known of the cluster; the scheduler's fields are empty, whoever knows the image fills them."""
        found = self.nodes()
        control_planes = tuple(node.name for node in found if node.role == "control-plane")
        return Facts(
            name=self.name,
            kubeconfig=self.kubeconfig_path,
            kind=self.kind_path,
            kubectl=self.kubectl_path,
            kubernetes=self.kubernetes,
            node_image=self.record.node_image,
            control_planes=control_planes,
            workers=tuple(node.name for node in found if node.role == "worker"),
            pause_image=pause_image(control_planes[0]),
            scheduler_image="",
            scheduler_image_id="",
            scheduler_version="",
        )

    def close(self) -> None:
        """End this run's use of the cluster: remove it, or leave it complete for the next run when it is to be kept."""
        if self.record.keep:
            self._ownership.release()
        else:
            self.delete()

    def delete(self, *, settle: bool = False) -> None:
        """Remove the cluster with its files and record, and check that nothing of it remains; signals wait.

        Args:
            settle: The creation was broken off: the engine may still be starting a container that it was asked for.

        Raises:
            ClusterError: Something remains; the record stays, so that the next run tries again.
        """
        with shielded():
            self._ownership.phase("deleting")
            remove(self.record, settle=settle)
            self._ownership.forget()
            self._ownership.release()


def refuse_users_own(kubeconfig: Path) -> None:
    """Refuse a kubeconfig to write that is the user's own.

    Raises:
        UsageError: It is ``~/.kube/config`` or named in ``KUBECONFIG``.
    """
    own = [Path.home() / ".kube" / "config"]
    own += [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    for path in own:
        if kubeconfig.absolute().resolve() == path.expanduser().absolute().resolve():
            raise UsageError(
                "the kubeconfig that a new cluster is written to is a file of schedproof's",
                seen=f"{kubeconfig} is your own",
                cause="--kubeconfig (pytest-kind's option) is a file that is written, and removed with the cluster",
                cure="leave --kubeconfig out; to run against a cluster of yours: EXISTING_KUBECONFIG=FILE",
            )


def _require_program(path: Path, name: str) -> None:
    if not os.access(path, os.X_OK):
        raise ProgramError(f"the program {name} is at {path}", cure="leave the choice to schedproof: `make e2e`")
