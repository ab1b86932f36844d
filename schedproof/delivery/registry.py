"""A registry beside the nodes: the engine pushes images to it, the nodes' containerd pulls them from it.

One name serves both sides. The engine reaches the registry at a port of its own loopback, for which it (like
containerd) speaks plain HTTP without being told to. In each node the same port of the loopback leads to the registry's
container, by a socket of the node's systemd: nothing in a node's configuration is touched.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import tenacity

from schedproof.cluster import network
from schedproof.cluster.node import run_in_node
from schedproof.command import CommandFailed
from schedproof.delivery.leftovers import LABEL, UNIT, clean_node, forget_pushed
from schedproof.errors import ClusterError, ImageError
from schedproof.host.docker import docker
from schedproof.images.registry import PORT, ensure_registry_image
from schedproof.watch.counter import waiting

HOST = "127.0.0.1"
PUSH_SECONDS = 120.0
"""Deadline of one push; 80 MB take about five seconds, most of it for compressing them."""
ANSWERS = 20.0
"""Seconds within which a started registry answers every node; it takes one."""
PROXY = "/lib/systemd/systemd-socket-proxyd"


@dataclass(frozen=True)
class Pushed:
    """An image in the registry.

    Attributes:
        name: Under which engine and nodes know it, e.g. ``127.0.0.1:32768/schedproof/my-scheduler:1.0``.
        digest: Of its manifest, ``sha256:...``: what a Pod's status names when its image was pulled.
        registry: Where it is.
    """

    name: str
    digest: str
    registry: Registry


@dataclass
class Registry:
    """One registry, for one claim.

    Attributes:
        cluster: Name of the cluster whose nodes reach it.
        nodes: Those nodes.
        container: Name of its container.
        address: ``host:port``, the same for engine and nodes.
        running: Whether it answers.
        pushes: How many pushes it has taken.
    """

    cluster: str
    nodes: tuple[str, ...]
    container: str
    address: str = ""
    running: bool = False
    pushes: int = 0

    @classmethod
    def started(cls, cluster: str, nodes: Sequence[str]) -> Registry:
        """Return a registry that answers the engine and each node.

        Raises:
            ImageError: There is no image of a registry.
            ClusterError: A node does not reach it.
            CommandFailed: The engine cannot run it.
        """
        made = cls(cluster, tuple(nodes), f"{UNIT}-{secrets.token_hex(4)}")
        image = ensure_registry_image()
        try:
            docker(
                "run", "--detach", "--name", made.container, "--label", f"{LABEL}={cluster}",
                "--network", network.name(), "--publish", f"{HOST}::{PORT}", image,
            )  # fmt: skip
            published = docker("port", made.container, f"{PORT}/tcp").stdout.splitlines()[0]
            made.address = f"{HOST}:{published.rpartition(':')[2]}"
            for node in made.nodes:
                made._lead(node)
            made.running = True
        except BaseException:
            made.remove()
            raise
        return made

    def name(self, repository: str) -> str:
        """Return the full name of a repository and tag (``my-scheduler:1.0``) in this registry."""
        return f"{self.address}/schedproof/{repository}"

    def push(self, image: str, repository: str) -> Pushed:
        """Give an image of the engine a name in this registry, and push it, as the first document does.

        Args:
            image: Its tag or id in the engine.
            repository: Repository and tag, e.g. ``my-scheduler:1.0``.

        Raises:
            ImageError: The registry does not take it.
        """
        name = self.name(repository)
        docker("tag", image, name)
        try:
            docker("push", "--quiet", name, seconds=PUSH_SECONDS)
        except CommandFailed as error:
            raise ImageError(
                f"the registry takes {name}", seen=error.message.seen, cure=f"docker logs {self.container}"
            ) from error
        known = json.loads(docker("image", "inspect", "--format", "{{json .RepoDigests}}", name).stdout)
        digest = next(one.partition("@")[2] for one in known if one.startswith(name.rpartition(":")[0] + "@"))
        self.pushes += 1
        return Pushed(name, digest, self)

    def stop(self) -> None:
        """Take it away: connections to its address are refused, by the engine's loopback and by every node's."""
        docker("stop", "--time", "0", self.container)
        # Without its way a node is told so at once; with it, it would try the container's address for half a minute.
        for node in self.nodes:
            run_in_node(
                node, ["systemctl", "stop", f"{self.container}.socket", f"{self.container}.service"], check=False
            )
        self.running = False

    def remove(self) -> None:
        """Remove its container, what was pushed to it, and every trace of both in the nodes.

        Raises:
            CommandFailed: The engine or a node does not answer.
        """
        docker("rm", "--force", "--volumes", self.container, check=False)
        self.running = False
        for node in self.nodes:
            clean_node(node, self.container, self.address)
        if self.address:
            forget_pushed(self.address)

    def _lead(self, node: str) -> None:
        """Let the port of a node's loopback lead to the registry."""
        form = f'{{{{(index .NetworkSettings.Networks "{network.name()}").IPAddress}}}}'
        target = docker("inspect", "--format", form, self.container).stdout.strip()
        run_in_node(
            node,
            ["systemd-run", f"--unit={self.container}", "--collect", f"--socket-property=ListenStream={self.address}",
             PROXY, f"{target}:{PORT}"],
        )  # fmt: skip
        ask = ["curl", "--silent", "--noproxy", "*", "--max-time", "2", "--output", "/dev/null",
               "--write-out", "%{http_code}", f"http://{self.address}/v2/"]  # fmt: skip
        asking = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda code: code != "200"),
            stop=tenacity.stop_after_delay(ANSWERS),
            wait=tenacity.wait_fixed(0.2),
        )
        try:
            with waiting():
                asking(lambda: run_in_node(node, ask, check=False).stdout)
        except tenacity.RetryError as error:
            raise ClusterError(
                f"the registry {self.container} answers node {node} at {self.address}, within {ANSWERS:.0f} s",
                seen=f"HTTP status {error.last_attempt.result() or 'none'}",
                cause="it did not start, or the port is taken in the node",
                cure=f"docker logs {self.container}; docker exec {node} systemctl status '{UNIT}*'",
            ) from error
