"""A kubeconfig with a client certificate of its own, for a scheduler that is no Pod of a ServiceAccount."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from schedproof.cluster.node import run_in_node
from schedproof.errors import ClusterError

if TYPE_CHECKING:
    from schedproof.cluster.facts import Facts

KUBEADM_CONFIG = "/kind/kubeadm.conf"
"""kind leaves kubeadm's configuration in each node; it says where the API server is."""

VALIDITY = "24h"
"""Longer than any run; kubeadm's default is a year."""


def kubeconfig(facts: Facts, user: str) -> str:
    """Return a kubeconfig whose certificate says ``user``, signed by the cluster's own authority through kubeadm.

    Raises:
        ClusterError: There is no control-plane node to enter, or kubeadm printed none.
        CommandFailed: kubeadm refused.
    """
    if not facts.owned or not facts.control_planes:
        raise ClusterError(
            "a control-plane node can be entered, where kubeadm signs a certificate",
            seen="this cluster was not made by schedproof",
            cure="leave EXISTING_KUBECONFIG out",
        )
    argv = ["kubeadm", "kubeconfig", "user", f"--client-name={user}", f"--config={KUBEADM_CONFIG}",
            f"--validity-period={VALIDITY}"]  # fmt: skip
    text = run_in_node(facts.control_planes[0], argv).stdout
    if not isinstance(content := yaml.safe_load(text), dict) or not content.get("users"):
        raise ClusterError(f"kubeadm prints a kubeconfig for {user}", seen="something else")
    return text
