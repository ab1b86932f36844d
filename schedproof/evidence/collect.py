"""Write the evidence of a failed claim into a folder, quickly, before anything is torn down."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from schedproof import folders
from schedproof.errors import SchedproofError
from schedproof.evidence.collectors import COLLECTORS, Audit, Files, Scene
from schedproof.evidence.nodes import collect_nodes
from schedproof.evidence.redaction import FILE_BYTES, FOLDER_BYTES, bounded, redacted
from schedproof.evidence.sidebyside import side_by_side

if TYPE_CHECKING:
    from schedproof.api import Api
    from schedproof.cluster.facts import Facts
    from schedproof.shapes.scheduler import Scheduler

SECONDS = 10.0
"""Deadline of everything together; usually it is done within two seconds."""
SMALLEST = 16 * 1024
"""Bytes of room below which a file is rather left out."""


def collect(  # noqa: PLR0917 - who, where and what of a claim, in this order everywhere
    claim_id: str,
    api: Api,
    facts: Facts,
    namespaces: Sequence[str],
    schedulers: Sequence[Scheduler],
    audit: Audit | None = None,
    *,
    collectors: Sequence[Callable[[Scene], Files]] = COLLECTORS,
) -> Path:
    """Collect the evidence of a claim and return its folder, ``artifacts/evidence/CLAIM-ID``.

    Never raises for trouble of a collector's: that is written into ``not-collected.txt``. A folder of an earlier run is
    replaced. Node logs are written once for each cluster, beside the claims' folders.

    Args:
        claim_id: The claim, with the mutant's name behind it when there is one; odd characters are replaced.
        api: The cluster.
        facts: What is known of it.
        namespaces: The claim's own namespaces.
        schedulers: The schedulers that it deployed.
        audit: The audit log; None for a cluster without one.
        collectors: What to collect.

    Raises:
        HarnessError: The folder cannot be made or written (a full disk).
    """
    began = time.monotonic()
    root = folders.artifacts() / "evidence"
    folder = root / slug(claim_id)
    if folder.exists():
        shutil.rmtree(folder)
    scene = Scene(api, facts, list(namespaces), list(schedulers), audit)
    jobs: dict[str, Callable[[], Files]] = {_name(collector): partial(collector, scene) for collector in collectors}
    jobs["nodes"] = lambda: _nodes(facts, root)
    failures: list[str] = []
    room = FOLDER_BYTES - 2 * SMALLEST
    for name, outcome in side_by_side(jobs, seconds=SECONDS).items():
        if isinstance(outcome, SchedproofError):
            failures.append(f"{name}:\n{outcome}\n")
            continue
        for file, text in outcome.items():
            if room < SMALLEST:
                failures.append(f"{file}: left out, the evidence of this claim had reached its bound\n")
                continue
            room -= _write(folder / slug(file), text, min(FILE_BYTES, room))
    if failures:
        _write(folder / "not-collected.txt", "\n".join(failures), SMALLEST)
    _write(folder / "README.txt", f"Evidence of {claim_id}, collected in {time.monotonic() - began:.1f} s.\n", 1024)
    return folder


def slug(text: str) -> str:
    """Return a text as a file name: letters, digits, dot, dash and underscore, at most 120 characters."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")[:120] or "unnamed"


def _name(collector: Callable[[Scene], Files]) -> str:
    return getattr(collector, "__name__", str(collector))


def _nodes(facts: Facts, root: Path) -> Files:
    """Point from the claim's folder to the node logs that all claims share."""
    folder = collect_nodes(facts, root)
    return {
        "nodes.txt": f"The nodes' logs: {folder}\n" if folder else "The nodes of a foreign cluster cannot be entered.\n"
    }


def _write(path: Path, text: str, limit: int) -> int:
    """Write a text without secrets, bounded, and return its size in bytes; an empty text writes nothing."""
    clean = bounded(redacted(text), limit)
    if clean.strip():
        folders.write_text(path, clean)
    return len(clean.encode())
