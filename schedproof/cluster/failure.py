"""Why a cluster could not be made: the known reasons, told apart by what kind and the nodes wrote."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from schedproof import folders
from schedproof.cluster.node import nodes, run_in_node
from schedproof.command import Completed
from schedproof.errors import ClusterError, HarnessError
from schedproof.host.docker import docker

LOG_BYTES = 256 * 1024
"""So much of the end of each log is kept."""

QUOTED_LINES = 4
"""So many lines of a node's log stand in the message."""

LOG_SECONDS = 20.0
"""Deadline for each log: a node that hangs must not hold up the report."""

JOURNAL = ("journalctl", "--no-pager", "--lines=1500", "--unit=kubelet", "--unit=containerd")


@dataclass(frozen=True)
class Reason:
    """One way to fail; of those whose pattern is found the first wins.

    Attributes:
        pattern: Looked for in what kind wrote.
        cause: In plain words.
        cure: What to do.
        in_logs: Whether the nodes' logs are searched too; a line there may mean less than the same line of kind's.
        quote: Ending of the log file whose last lines belong into the message.
    """

    pattern: str
    cause: str
    cure: str
    in_logs: bool = False
    quote: str = ""


REASONS = (
    Reason(
        r"Cannot connect to the Docker daemon|failed to get docker info|error during connect",
        "the container engine stopped answering",
        "`make doctor`, then start the engine and run again",
    ),
    Reason(
        r"no space left on device",
        "the disk is full",
        "free some space (`make clean`, `docker system df`)",
        in_logs=True,
    ),
    Reason(
        r"port is already allocated|address already in use",
        "the port that was chosen for the API server was taken at the same moment",
        "run again",
    ),
    Reason(
        r"failed to pull image|pull access denied|manifest unknown|No such image|Unable to find image",
        "the node image is not in the engine and cannot be pulled",
        "check NODE_IMAGE, or leave it out: an image is then built",
    ),
    Reason(
        r"node\(s\) already exist for a cluster with the name",
        "another cluster took the name between our look and kind's",
        "run again",
    ),
    Reason(
        r"unable to apply caps|operation not permitted.*privileged|can't get final child's PID",
        "the engine cannot start privileged containers on this machine",
        "use Docker 26 or newer; see `make doctor`",
        in_logs=True,
    ),
    Reason(
        r"[Tt]oo many open files|inotify_init|inotify watch(es)? limit",
        "the inotify limits are too low for another cluster (kind's known issue)",
        "sysctl -w fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288",
        in_logs=True,
    ),
    Reason(
        r"configured to not run on a host using cgroup v1",
        "the kubelet refuses cgroup v1 although the configuration allows it",
        "boot the host with cgroup v2, or take an older KUBERNETES_VERSION",
        in_logs=True,
    ),
    Reason(
        r"loading audit policy file|audit/policy\.yaml: no such file",
        "the audit policy is not in the node: the engine runs on another machine and cannot mount our files",
        "use an engine on this machine (DOCKER_HOST), or a cluster of your own with EXISTING_KUBECONFIG",
        in_logs=True,
    ),
    Reason(
        r"could not find a log line that matches|container .* is not running",
        "the node's container never booted: its systemd did not come up; this is before any Kubernetes",
        "read the node's log in the evidence; `make doctor` checks cgroups, limits and the engine",
        quote="-control-plane.log",
    ),
    Reason(
        r"(?i)failed to (lock|write|encode|get|create directory for)[^:]*(kubeconfig|config file)",
        "the cluster came up, but its kubeconfig could not be written",
        "check space and owner of the state folder (SCHEDPROOF_STATE)",
    ),
    Reason(
        r"failed to ensure docker network",
        "the engine could not make kind's network: its address pools are used up, or a firewall tool is in the way",
        "`docker network ls`, `docker network prune`",
    ),
    Reason(
        r"failed to apply overlay network",
        "the control plane is up, but the pod network's objects could not be applied",
        "read kind.txt in the evidence; run again",
    ),
    Reason(
        r"failed to init node with kubeadm",
        "kubeadm could not bring up the control plane in time: the machine is too slow or too full, "
        "or an image or flag does not fit this Kubernetes",
        "read the kubelet's log in the evidence; free CPU and memory, run again",
        quote="-control-plane-journal.log",
    ),
    Reason(
        r"failed to join node with kubeadm",
        "the control plane is up, but a worker could not join it in time",
        "read the worker's kubelet log in the evidence; free CPU and memory, run again",
    ),
    Reason(
        r"unknown field|unable to decode config|error converting YAML|unknown apiVersion",
        "this kind does not understand the configuration",
        "use the kind that `make doctor` names, or none on PATH: a suitable one is then fetched",
    ),
)


def explain(name: str, seen: str, stage: str, output: str) -> ClusterError:
    """Keep the logs of a cluster that could not be made, and return the error that says why.

    Args:
        name: The cluster; its containers are still there.
        seen: How kind ended.
        stage: What kind was doing at the end, in its own words.
        output: Everything kind wrote.
    """
    kept = collect(name, output)
    logs = [file.read_text(encoding="utf-8", errors="replace") for file in sorted(kept.glob("*.log"))]
    said = f"{seen}\n{output}"
    everything = "\n".join((said, *logs))
    reason = next((each for each in REASONS if re.search(each.pattern, everything if each.in_logs else said)), None)
    quoted = _end_of(kept, name + reason.quote) if reason and reason.quote else ""
    error = ClusterError(
        f"kind makes the cluster {name}",
        seen=f"{seen}\nwhile: {stage or 'starting'}\n{_last_words(output)}\n{quoted}".strip(),
        cause=reason.cause if reason else "",
        cure=reason.cure if reason else "read the logs in the evidence; `make doctor` checks the machine",
    )
    return with_evidence(error, kept)


def with_evidence(error: ClusterError, kept: Path) -> ClusterError:
    """Return the error, its message naming the folder of the logs."""
    error.message = replace(error.message, evidence=str(kept))
    return error


def collect(name: str, output: str = "") -> Path:
    """Write kind's output and the end of each node's logs to ``artifacts/cluster/NAME/``; never raises for a node."""
    folder = folders.artifacts() / "cluster" / name
    folder.mkdir(parents=True, exist_ok=True)
    if output:
        _keep(folder / "kind.txt", output)
    try:
        found = nodes(name)
    except HarnessError as error:
        _keep(folder / "engine.txt", str(error))
        return folder
    if found:
        with ThreadPoolExecutor(len(found)) as pool:
            list(pool.map(lambda node: _collect_node(folder, node.name), found))
    return folder


def _collect_node(folder: Path, node: str) -> None:
    questions: dict[str, Callable[[], Completed]] = {
        "": lambda: docker("logs", "--tail", "1000", node, seconds=LOG_SECONDS, check=False),
        "-journal": lambda: run_in_node(node, JOURNAL, seconds=LOG_SECONDS, check=False),
        "-containers": lambda: run_in_node(node, ["crictl", "ps", "--all"], seconds=LOG_SECONDS, check=False),
    }
    for title, ask in questions.items():
        try:
            done = ask()
            text = done.stdout + done.stderr
        except HarnessError as error:
            text = str(error)
        _keep(folder / f"{node}{title}.log", text)


def _keep(path: Path, text: str) -> None:
    folders.write_text(path, text.encode()[-LOG_BYTES:].decode(errors="replace"))


def _end_of(folder: Path, name: str) -> str:
    """Return the last lines of a kept log, under its name."""
    try:
        lines = (folder / name).read_text(encoding="utf-8", errors="replace").split("\n")
    except FileNotFoundError:
        return ""
    last = [line.strip()[:300] for line in lines if line.strip()][-QUOTED_LINES:]
    return "\n".join((f"{name}:", *last)) if last else ""


def _last_words(output: str) -> str:
    """Return kind's own error line, and if there is none its last three lines."""
    lines = [line for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return "\n".join(line[:400] for line in (errors[-1:] or lines[-3:]))
