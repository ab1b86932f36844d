"""A second scheduler as a systemd service on a node, as the second document runs it; its log is the journal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tenacity
import yaml

from schedproof.cluster.node import run_in_node
from schedproof.deploy import bundle, causes
from schedproof.errors import ApiError, Unreachable, UsageError, WaitTimeout
from schedproof.shapes import certificate, node_files
from schedproof.shapes.scheduler import LOG_LINES, Scheduler
from schedproof.shapes.static_pod import free_port
from schedproof.watch.counter import waiting
from schedproof.watch.deadlines import Deadline

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

UNITS = "/etc/systemd/system"
CONFIGS = "/etc/kubernetes/config"
"""The second document's folder of configuration files."""
PROGRAM = "/usr/local/bin/kube-scheduler"
"""What the document's unit starts; each service of ours starts a copy of its own."""
PORT = "10279"
"""The port in our unit file."""
ENDED = ("inactive", "failed")
"""States of a unit that does not come back by itself."""
CRASHES = 4
"""Restarts by systemd after which a service that does not answer is given up; a claim's own kill is one."""
EVERY = 0.2
"""Seconds between two questions to a service; systemd has nothing to watch."""


class Service(Scheduler):
    """One second scheduler that systemd runs on a control plane, known by a client certificate.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: Bindings of a User and a ConfigMap with the configuration, under names of their own.
        unit: The unit file; its program, configuration and port are replaced by this service's own.
        name: The schedulerName that its pods ask for; by default the first one that its configuration serves.

    Raises:
        UsageError: The bindings name no User, or no node can be entered.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], unit: str, name: str = "") -> None:
        super().__init__(api, facts, objects, name=name, namespace="kube-system")
        self.unit = self.user = bundle.user(objects)
        if not self.user or not facts.control_planes:
            raise UsageError(
                "the bindings name the User of the service's client certificate, and a control plane can be entered",
                seen="no subject of kind User" if facts.control_planes else "no node is known",
                cure="see manifests/kubernetes/service",
            )
        self.node = facts.control_planes[0]
        self.port = free_port(self.unit)
        self._program = f"{node_files.PROGRAMS}/{self.unit}/kube-scheduler"
        self._file = f"{UNITS}/{self.unit}.service"
        self._config, self._kubeconfig = f"{CONFIGS}/{self.unit}-config.yaml", f"{CONFIGS}/{self.unit}.conf"
        old = next((config.key for config in bundle.configs(self.objects)), "")
        own = {PROGRAM: self._program, f"{CONFIGS}/{old}": self._config, f"--secure-port={PORT}": self._port_flag}
        self.text = unit
        for words, ours in own.items():
            self.text = self.text.replace(words, ours)

    @property
    def identity(self) -> str:
        """The user in its client certificate."""
        return self.user

    @property
    def title(self) -> str:
        """Name and service."""
        return f"scheduler {self.name} (systemd service {self.unit} on {self.node})"

    def kill(self) -> int:
        """Kill its process with SIGKILL, and return the process id it had.

        Raises:
            CommandFailed: It does not run.
        """
        pid = self.process_id()
        self._systemctl("kill", "--signal=KILL", "--kill-whom=main", self.unit)
        self.happened("kill")
        return pid

    def stop(self) -> float:
        """Stop and disable it; systemd returns when its processes have ended.

        Returns:
            ``time.time()`` at which it was certain.
        """
        self._systemctl("disable", "--now", self.unit)
        when = time.time()
        self.happened("stop")
        return when

    def start(self) -> None:
        """Enable and start it again."""
        self._systemctl("enable", "--now", self.unit)
        self.happened("start")

    def process_id(self) -> int:
        """Return its main process's id as the node numbers it; 0 when it does not run."""
        return int(self.shown("MainPID") or 0)

    def shown(self, property_: str) -> str:
        """Return a property of the unit, e.g. ``ActiveState`` or ``NRestarts``, as systemd shows it."""
        asked = ["systemctl", "show", f"--property={property_}", "--value", f"{self.unit}.service"]
        return run_in_node(self.node, asked).stdout.strip()

    def pods(self) -> list[Object]:
        """Return nothing: it runs in no Pod."""
        return []

    def logs(self, *, lines: int = LOG_LINES, previous: bool = False) -> str:
        """Return the end of its journal; that of earlier processes is in it too."""
        if previous:
            return ""
        argv = [
            "journalctl",
            f"--unit={self.unit}.service",
            f"--lines={lines}",
            "--no-pager",
            "--output=cat",
            "--quiet",
        ]
        return run_in_node(self.node, argv).stdout

    def evidence(self) -> dict[str, str]:
        """Return unit file and state."""
        argv = ["systemctl", "status", "--no-pager", "--lines=0", f"{self.unit}.service"]
        return {f"{self.unit}.service": self.text, "status.txt": run_in_node(self.node, argv, check=False).stdout}

    def cause(self) -> str:
        """Return the likely cause of its not working, from journal and unit state."""
        state = self.shown("ActiveState")
        stopped = f"the service {self.unit} is {state}: nobody runs it" if state in ENDED else ""
        return causes.from_log(self.logs()) or stopped or causes.unserved(self.name, self.served)

    def left(self) -> list[str]:
        """Return what is still there of it: objects, files, a unit that systemd still knows."""
        found = [
            f"{obj['kind']}/{obj['metadata']['name']}"
            for obj in self._objects()
            if self._api.get(f"{obj['apiVersion']}/{obj['kind']}", obj["metadata"]["name"], _where(obj)) is not None
        ]
        found += node_files.present(self.node, self._paths())
        if self.shown("LoadState") != "not-found" or self.process_id():
            found.append(f"unit {self.unit}.service ({self.shown('ActiveState')})")
        return found

    def _refuse_to_overwrite(self) -> None:
        if there := node_files.present(self.node, self._paths()):
            raise UsageError(f"{self.node} has no {there[0]}", seen="it has", cure="give the scheduler another name")

    def _deploy(self) -> None:
        node_files.announce(self.node, self.unit, self._paths())
        for obj in self._objects():
            self._api.apply(obj)
        for config in bundle.configs(self.objects):
            content = config.content or {}
            if (content.get("clientConnection") or {}).get("kubeconfig"):
                content["clientConnection"]["kubeconfig"] = self._kubeconfig
            node_files.write(self.node, self._config, yaml.safe_dump(content, sort_keys=False))
        text = certificate.kubeconfig(self._facts, self.user)
        node_files.write(self.node, self._kubeconfig, text, mode="0600")
        node_files.copy_program(self._facts.scheduler_image, self._facts.scheduler_command, self.node, self._program)
        node_files.write(self.node, self._file, self.text)
        self._systemctl("daemon-reload")
        self._systemctl("enable", "--now", self.unit)

    def _wait_until_ready(self, deadline: Deadline) -> None:
        ask = ["curl", "--silent", "--insecure", "--noproxy", "*", "--max-time", "2", "--output", "/dev/null",
               "--write-out", "%{http_code}", f"https://127.0.0.1:{self.port}/readyz"]  # fmt: skip
        asking = tenacity.Retrying(
            retry=tenacity.retry_if_result(lambda answer: answer != "200"),
            stop=tenacity.stop_after_delay(deadline.seconds),
            wait=tenacity.wait_fixed(EVERY),
        )
        expected = f"{self.title}: its /readyz says ok"

        def answer() -> str:
            code = run_in_node(self.node, ask, check=False).stdout
            if code != "200" and (self.shown("ActiveState") in ENDED or int(self.shown("NRestarts") or 0) >= CRASHES):
                raise Unreachable(expected, seen="\n".join(self._summary()), cause=self.cause())
            return code

        try:
            with waiting():
                asking(answer)
        except tenacity.RetryError as error:
            raise WaitTimeout(
                f"{expected}, within {deadline.seconds:g} s (deadline {deadline.name})",
                seen=f"it answers {error.last_attempt.result() or 'nothing'}",
                scheduler="\n".join(self._summary()),
                cause=self.cause(),
            ) from error

    def _uninstall(self) -> None:
        self._systemctl("disable", "--now", self.unit, check=False)
        node_files.remove(self.node, self._paths())
        self._systemctl("daemon-reload")
        self._systemctl("reset-failed", self.unit, check=False)
        node_files.forget(self.node, self.unit)
        for obj in self._objects():
            self._api.delete(f"{obj['apiVersion']}/{obj['kind']}", obj["metadata"]["name"], _where(obj))

    def _summary(self) -> list[str]:
        state = f"{self.shown('ActiveState')}, {self.shown('NRestarts')} restarts"
        lines = [f"{self.title} serves {', '.join(self.served)}", f"unit {self.unit}.service: {state}"]
        return lines + [f"log: {line[:240]}" for line in causes.telling(self.logs(), 3)]

    def _objects(self) -> list[Object]:
        return [obj for obj in self.objects if obj["kind"] != "ConfigMap"]

    def _paths(self) -> list[str]:
        return [self._file, self._config, self._kubeconfig, self._program.rpartition("/")[0]]

    @property
    def _port_flag(self) -> str:
        return f"--secure-port={self.port}"

    def _systemctl(self, *words: str, check: bool = True) -> None:
        done = run_in_node(self.node, ["systemctl", *words], check=False)
        if check and done.code:
            raise ApiError(f"systemctl {' '.join(words)} works on {self.node}", seen=done.stderr.strip())


def _where(obj: Object) -> str:
    return str(obj["metadata"].get("namespace") or "")
