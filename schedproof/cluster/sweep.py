"""What earlier runs left: their process is gone (kill -9, power cut), their cluster is not. Removed by the next run."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from schedproof.cluster import owner
from schedproof.cluster.node import nodes
from schedproof.cluster.removal import remove
from schedproof.cluster.signals import shielded
from schedproof.delivery import leftovers
from schedproof.errors import HarnessError
from schedproof.progress import progress


def sweep() -> list[str]:
    """Remove every cluster of ours whose run is dead and that is not a complete one to be kept; return their names.

    A fault is told and does not stop the run: the record stays, and the run after it tries again.
    """
    _sweep_registries()
    removed = []
    for path in sorted(owner.root().glob("*.lock")):
        ownership = owner.take(path.stem)
        if ownership is None:
            continue  # a live run's
        try:
            if _remove_dead(ownership):
                removed.append(ownership.name)
        except HarnessError as fault:
            progress.line(f"! left-overs of an earlier run remain:\n{fault}")
        finally:
            ownership.release()
    return removed


def _sweep_registries() -> None:
    try:
        with shielded():
            for name in leftovers.sweep():
                progress.line(f"  an earlier run left the registry {name}: removed")
    except HarnessError as fault:
        progress.line(f"! a registry of an earlier run remains:\n{fault}")


def _remove_dead(ownership: owner.Ownership) -> bool:
    record = owner.read(ownership.name)
    if record is None:
        ownership.forget()
        return False
    if record.keep and record.phase == "ready" and nodes(record.name):
        return False
    progress.line(f"  the run with process id {record.pid} left the cluster {record.name}: removing it")
    with shielded():
        end_creation(record)
        remove(record)
        ownership.forget()
    return True


def end_creation(record: owner.Record) -> None:
    """End a ``kind create cluster`` that outlived the run that started it; found by our kubeconfig's path."""
    ours = str(record.folder / "kubeconfig")
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            argv = entry.read_bytes().decode(errors="replace").split("\0")
            if {"create", "cluster", record.name, ours} <= set(argv):
                # It leads a process group of its own (see schedproof.command), with kind's children in it.
                os.killpg(int(entry.parent.name), signal.SIGKILL)
