"""Processes inside a node, found by the container that they run in, and signalled: the kernel's own kind of fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from schedproof.cluster.node import CRICTL, QUICK, run_in_node
from schedproof.errors import ApiError, WaitTimeout

if TYPE_CHECKING:
    from schedproof.api import Object
    from schedproof.watch.deadlines import Deadline

TIMED_OUT = 124
"""Exit code of timeout(1) when it had to end what it ran."""

Signal = Literal["KILL", "TERM", "STOP", "CONT"]


def of_container(pod: Object, container: str) -> tuple[str, int]:
    """Return node and process id (as that node numbers it) of a Pod's container.

    Raises:
        ApiError: The container does not run.
        CommandFailed: The node does not answer, or no longer knows the container.
    """
    statuses: list[Object] = (pod.get("status") or {}).get("containerStatuses") or []
    status: Object = next((one for one in statuses if one["name"] == container), {})
    running = str(status.get("containerID") or "").rpartition("//")[2]
    node = (pod.get("spec") or {}).get("nodeName")
    if not running or not node or not (status.get("state") or {}).get("running"):
        raise ApiError(f"container {container} of Pod {pod['metadata']['name']} runs", seen="it does not")
    told = json.loads(run_in_node(node, [*CRICTL, "inspect", "--output", "json", running]).stdout)
    return str(node), int(told["info"]["pid"])


def signal(node: str, pid: int, name: Signal) -> None:
    """Send a signal to a process of a node.

    Raises:
        CommandFailed: There is no such process, or the node does not answer.
    """
    run_in_node(node, ["kill", f"-{name}", str(pid)])


def of_pod(node: str, pod: str) -> list[int]:
    """Return the process ids of a Pod's running containers as their node knows them, whatever the API server knows.

    Raises:
        CommandFailed: The node does not answer.
    """
    listed = run_in_node(node, [*CRICTL, "ps", "--quiet", "--label", f"io.kubernetes.pod.name={pod}"]).stdout.split()
    told = [json.loads(run_in_node(node, [*CRICTL, "inspect", "--output", "json", one]).stdout) for one in listed]
    return [int(one["info"]["pid"]) for one in told]


def wait_until_ended(node: str, pid: int, deadline: Deadline) -> None:
    """Wait until a process of a node has ended.

    Raises:
        WaitTimeout: It still ran after the deadline.
        CommandFailed: The node does not answer.
    """
    argv = ["timeout", str(deadline.seconds), "tail", f"--pid={pid}", "-f", "/dev/null"]
    if run_in_node(node, argv, check=False, seconds=deadline.seconds + QUICK).code == TIMED_OUT:
        raise WaitTimeout(f"process {pid} of {node} ends, within {deadline.seconds:g} s", seen="it runs")
