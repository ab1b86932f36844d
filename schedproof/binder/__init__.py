"""Who bound a pod: the join of event, audit log and spec, and the invariants every claim keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Known(Protocol):
    """A scheduler that the harness knows: its name for pods and its name for the API server."""

    @property
    def name(self) -> str:
        """The ``schedulerName`` that it serves."""

    @property
    def identity(self) -> str:
        """The user as whom it asks the API server, e.g. ``system:serviceaccount:kube-system:my-scheduler``."""


@dataclass(frozen=True)
class Named:
    """A scheduler known by name and identity only."""

    name: str
    identity: str


DEFAULT = Named("default-scheduler", "system:kube-scheduler")
"""The control plane's own scheduler, as kubeadm sets it up."""
