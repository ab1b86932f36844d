"""When a cluster is ready: every node Ready, the default ServiceAccount there, the audit log written.

``kind create cluster --wait`` looks at control planes only and returns 0 when it runs out of time, so it is not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedproof.cluster.config import AUDIT_LOG
from schedproof.cluster.node import run_in_node
from schedproof.errors import ApiError, ClaimFailed, ClusterError

if TYPE_CHECKING:
    from schedproof.cluster.kind import Cluster

API_SERVER = "/etc/kubernetes/manifests/kube-apiserver.yaml"
"""The API server's static Pod inside a control-plane node, as kubeadm wrote it."""


def wait_until_ready(cluster: Cluster) -> None:
    """Wait until the cluster can be used.

    Raises:
        ClusterError: It does not get there in time; the message carries the state of each node.
    """
    wait_until_nodes_ready(cluster.kubeconfig_path, cluster.record.nodes)
    for node in cluster.nodes():
        if node.role == "control-plane":
            require_audit(node.name)


def wait_until_nodes_ready(kubeconfig: Path, count: int) -> None:
    """Wait until ``count`` nodes are Ready and the ServiceAccount ``default`` exists.

    A Pod that is created before its namespace's ServiceAccount is refused.

    Raises:
        ClusterError: The deadline passed, or the API server does not answer.
    """
    from schedproof.api import Api
    from schedproof.watch.deadlines import NODES
    from schedproof.watch.wait import wait_until

    try:
        api = Api(kubeconfig)
        wait_until(
            api, "Node", "",
            lambda nodes: len(nodes) == count and all(is_ready(node) for node in nodes),
            deadline=NODES, expected=f"{count} node(s) are Ready",
        )  # fmt: skip
        wait_until(
            api, "ServiceAccount", "default",
            lambda accounts: any(account["metadata"]["name"] == "default" for account in accounts),
            deadline=NODES, expected="the ServiceAccount default/default exists",
        )  # fmt: skip
    except (ClaimFailed, ApiError) as error:
        # Nodes that do not come up say nothing about a scheduler.
        raise ClusterError(
            error.message.expected,
            seen=error.message.seen,
            cause="the machine is slow or full, or the pod network did not start",
            cure="read the kubelets' logs in artifacts/cluster/, `make doctor`",
        ) from error


def is_ready(node: dict[str, Any]) -> bool:
    """Return whether a Node's condition Ready is True."""
    conditions = node.get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def require_audit(node: str) -> None:
    """Check that the API server of a control-plane node really writes the audit log.

    kubeadm took extraArgs as a map up to v1beta3 and takes a list from v1beta4 on; a patch of the wrong form is
    dropped without a word (kind#3847), so the flag is looked for where it must have arrived.

    Raises:
        ClusterError: The flag is not in the static Pod, or the log is empty.
    """
    for what, argv in (
        ("--audit-policy-file is a flag of the API server", ["grep", "-q", "audit-policy-file=", API_SERVER]),
        ("the audit log is written", ["test", "-s", AUDIT_LOG]),
    ):
        if run_in_node(node, argv, check=False).code != 0:
            raise ClusterError(
                f"in node {node} {what}",
                seen=f"`{' '.join(argv)}` says no",
                cause="kubeadm dropped the patch: it is of another kubeadm API version than manifests/kind/ knows",
                cure="use another KUBERNETES_VERSION, or add a patch of that version to manifests/kind/",
            )
