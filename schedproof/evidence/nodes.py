"""The nodes' own logs, once for each cluster: all its claims share them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedproof import folders
from schedproof.cluster.node import run_in_node
from schedproof.evidence.redaction import bounded, redacted
from schedproof.evidence.sidebyside import side_by_side

if TYPE_CHECKING:
    from pathlib import Path

    from schedproof.cluster.facts import Facts

SECONDS = 8.0
LINES = 800
UNITS = ("kubelet", "containerd")


def collect_nodes(facts: Facts, root: Path) -> Path | None:
    """Write kubelet's and containerd's journals of every node below ``root``, unless another claim has done so.

    Args:
        facts: The cluster; a foreign one's nodes cannot be entered.
        root: The folder of all evidence of a run.

    Returns:
        Their folder; None for a foreign cluster.
    """
    if not facts.owned:
        return None
    folder = root / f"nodes-{facts.name}"
    try:
        # Making the folder is the lock: the worker that makes it writes the logs.
        folder.mkdir(parents=True)
    except FileExistsError:
        return folder
    jobs = {
        f"{node}.{unit}.log": (lambda node=node, unit=unit: _journal(node, unit))
        for node in (*facts.control_planes, *facts.workers)
        for unit in UNITS
    }
    for name, text in side_by_side(jobs, seconds=SECONDS).items():
        said = text if isinstance(text, str) else f"could not be read: {text}\n"
        folders.write_text(folder / name, bounded(redacted(said)))
    return folder


def _journal(node: str, unit: str) -> str:
    return run_in_node(
        node,
        ["journalctl", "--unit", unit, "--lines", str(LINES), "--no-pager", "--output", "short-precise"],
        seconds=SECONDS,
    ).stdout
