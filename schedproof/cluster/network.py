"""kind's docker network: kind makes it once and leaves it. Whether *we* caused it is noted, for ``make clean``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from schedproof import folders
from schedproof.errors import HarnessError
from schedproof.host.docker import docker


def name() -> str:
    """Return the network's name; kind lets a variable replace it."""
    return os.environ.get("KIND_EXPERIMENTAL_DOCKER_NETWORK") or "kind"


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Note the network's id if it comes into being within the block (the creation of a cluster)."""
    before = network_id()
    try:
        yield
    finally:
        # An engine that is gone by now must not hide why the block failed.
        with contextlib.suppress(HarnessError):
            after = network_id()
            if after and not before:
                folders.write_text(_note(), after + "\n")


def network_id() -> str:
    """Return the network's id, or an empty text when there is none."""
    asked = docker("network", "inspect", "--format", "{{.Id}}", name(), check=False)
    return asked.stdout.strip() if asked.code == 0 else ""


def ours() -> bool:
    """Return whether the network there is now is one that our clusters caused."""
    return bool(present := network_id()) and _note().exists() and _note().read_text().strip() == present


def remove() -> None:
    """Remove the network and the note."""
    docker("network", "rm", name())
    _note().unlink(missing_ok=True)


def _note() -> Path:
    return folders.state() / "kind-network"
