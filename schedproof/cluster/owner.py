"""Who owns which cluster: records on disk, and a lock that each live run holds on its own.

A record says what was made and whether it is to be kept. The lock is the kernel's (flock): it goes with the process,
however that ended. So a record whose lock is free belongs to nobody alive, and unless its cluster is complete and
to be kept, the next run removes it. Clusters without a record are other people's and are never touched.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from schedproof import folders

PREFIX = "schedproof-"
"""The names of our clusters begin so; a convenience for readers, no proof of ownership."""

Phase = Literal["creating", "ready", "deleting"]


@dataclass(frozen=True)
class Record:
    """What is written down about one cluster of ours.

    Attributes:
        name: kind's cluster name.
        phase: How far it is; only a ``ready`` cluster can be kept.
        keep: Whether it outlives its run.
        pid: Process that made it or uses it, for the words of messages; liveness is the lock's business.
        node_image: Tag of the node image.
        node_image_id: Its id.
        config: Hash of configuration and audit policy.
        nodes: How many nodes.
        kind: The kind program that made it.
    """

    name: str
    phase: Phase
    keep: bool
    pid: int
    node_image: str
    node_image_id: str
    config: str
    nodes: int
    kind: str

    @property
    def folder(self) -> Path:
        """The cluster's files: kubeconfig, configuration, audit policy."""
        return folder(self.name)


def root() -> Path:
    """Return the folder of all records."""
    path = folders.state() / "clusters"
    path.mkdir(parents=True, exist_ok=True)
    return path


def folder(name: str) -> Path:
    """Return the folder of one cluster's files."""
    return root() / name


def read(name: str) -> Record | None:
    """Return a cluster's record; None without one, or when it is not ours to understand."""
    try:
        return Record(**json.loads((root() / f"{name}.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def records() -> list[Record]:
    """Return all records."""
    found = (read(path.stem) for path in sorted(root().glob("*.json")))
    return [record for record in found if record is not None]


class Ownership:
    """The right to a cluster's name, held until :meth:`release` or the end of the process.

    Its file is made and removed under the lock, so nobody can hold a lock on a file that is no longer there.
    """

    def __init__(self, name: str, descriptor: int) -> None:
        self.name = name
        self._descriptor: int | None = descriptor

    def write(self, record: Record) -> Record:
        """Write the record down, whole."""
        folders.write_text(root() / f"{self.name}.json", json.dumps(asdict(record), indent=1) + "\n")
        return record

    def phase(self, phase: Phase) -> None:
        """Note how far the cluster is."""
        record = read(self.name)
        if record is not None:
            self.write(replace(record, phase=phase))

    def forget(self) -> None:
        """Remove record and files: the cluster is gone."""
        (root() / f"{self.name}.json").unlink(missing_ok=True)
        shutil.rmtree(folder(self.name), ignore_errors=True)

    def release(self) -> None:
        """Give the name up; may be called again."""
        if self._descriptor is None:
            return
        if read(self.name) is None:
            _lock_file(self.name).unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


def take(name: str) -> Ownership | None:
    """Take the right to a name, or return None when a live run holds it."""
    path = _lock_file(name)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        try:
            if path.stat().st_ino == os.fstat(descriptor).st_ino:
                return Ownership(name, descriptor)
        except FileNotFoundError:
            pass
        os.close(descriptor)  # the holder removed the file between our two steps: take the new one


def _lock_file(name: str) -> Path:
    return root() / f"{name}.lock"
