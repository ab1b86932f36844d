"""What is known of the cluster of a run: made once, by the xdist controller, and handed to every worker as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Facts:
    """The cluster and the scheduler under test, as plain data.

    Attributes:
        name: kind's cluster name.
        kubeconfig: A file of ours (or, for a foreign cluster, the user's: only read).
        kind: The kind program; None for a foreign cluster.
        kubectl: The kubectl program.
        kubernetes: Version of the API server, e.g. ``v1.37.2``.
        node_image: Image that the nodes run; empty for a foreign cluster.
        control_planes: Node (and container) names of the control planes.
        workers: Node (and container) names of the other nodes.
        pause_image: An image that every node already has: what the documents' pods run.
        scheduler_image: Tag of the image under test.
        scheduler_image_id: Its config digest (``sha256:...``), which the running container must report.
        scheduler_version: What the image answers to ``--version``.
        scheduler_command: Path of the program inside the image.
        audit: Whether the API server's audit log can be read (through the engine).
        owned: Whether we made the cluster; a foreign one is never deleted.
    """

    name: str
    kubeconfig: Path
    kind: Path | None
    kubectl: Path
    kubernetes: str
    node_image: str
    control_planes: tuple[str, ...]
    workers: tuple[str, ...]
    pause_image: str
    scheduler_image: str
    scheduler_image_id: str
    scheduler_version: str
    scheduler_command: str = "/usr/local/bin/kube-scheduler"
    audit: bool = True
    owned: bool = True

    def to_json(self) -> str:
        """Return the facts as one JSON object."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Facts:
        """Return the facts that :meth:`to_json` wrote."""
        data: dict[str, Any] = json.loads(text)
        return cls(
            **{
                **data,
                "kubeconfig": Path(data["kubeconfig"]),
                "kind": Path(data["kind"]) if data["kind"] else None,
                "kubectl": Path(data["kubectl"]),
                "control_planes": tuple(data["control_planes"]),
                "workers": tuple(data["workers"]),
            }
        )
