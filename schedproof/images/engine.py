"""What every image needs of the engine: is it there, what is its id, and can it be pulled within reason."""

from __future__ import annotations

import json
from typing import Any

from schedproof.command import CommandFailed
from schedproof.errors import ImageError
from schedproof.host.docker import docker

FIRST_ANSWER = 20.0
"""Seconds a registry gets for its first word; a reachable one answers within two or three, even behind a proxy."""

WHOLE_PULL = 600.0
"""Seconds for a whole pull: a node image (about 400 MB compressed) at 6 Mbit/s."""

_NOBODY_ANSWERS = (
    "no such host",
    "server misbehaving",
    "connection refused",
    "network is unreachable",
    "no route to host",
    "i/o timeout",
    "tls handshake timeout",
    "proxyconnect",
    "client.timeout exceeded",
    "context deadline exceeded",
    "nothing was heard",
)
"""Words in a failed pull that speak of the network and not of the image, lower case."""

_unreachable: dict[str, str] = {}
"""Registries that could not be reached, and what was seen; for the life of this process, so that each is tried once."""


def inspect(ref: str) -> dict[str, Any] | None:
    """Return what the engine knows of an image (``docker image inspect``), None when it does not have it."""
    answer = docker("image", "inspect", ref, check=False)
    if answer.code == 0:
        found: list[dict[str, Any]] = json.loads(answer.stdout)
        return found[0]
    if "no such image" in answer.stderr.lower() or "not found" in answer.stderr.lower():
        return None
    raise ImageError(
        f"the engine says whether it has the image {ref}", seen=answer.stderr.strip(), cure="see `make doctor`"
    )


def exists(ref: str) -> bool:
    """Return whether the engine has the image."""
    return inspect(ref) is not None


def image_id(ref: str) -> str:
    """Return the id (``sha256:...``) that the engine gives the image: its config digest with the classic image store.

    Raises:
        ImageError: The engine does not have it.
    """
    found = inspect(ref)
    if found is None:
        raise ImageError(f"the engine has the image {ref}", seen="no such image", cure="build or pull it first")
    return str(found["Id"])


def remove(ref: str) -> None:
    """Take a name away from the engine's images, and with the last one the image; one that is not there is no fault."""
    docker("rmi", ref, check=False)


def labels(ref: str) -> dict[str, str]:
    """Return the labels of an image; empty when it has none or is not there."""
    found = inspect(ref) or {}
    return dict((found.get("Config") or {}).get("Labels") or {})


def registry(ref: str) -> str:
    """Return the registry that an image name stands for, e.g. ``docker.io`` for ``kindest/node:v1.37.0``."""
    first, _, rest = ref.partition("/")
    return first if rest and ("." in first or ":" in first or first == "localhost") else "docker.io"


def pull(ref: str) -> str:
    """Pull an image through the engine, which knows its own mirrors and proxies.

    A registry that does not answer is remembered for the life of this process and not asked again.

    Returns:
        Why it could not be had, one line; empty when the engine has it now.
    """
    host = registry(ref)
    if host in _unreachable:
        return f"{host} was not reachable a moment ago: {_unreachable[host]}"
    try:
        docker("pull", ref, seconds=WHOLE_PULL, first_output=FIRST_ANSWER)
    except CommandFailed as error:
        why = (error.stderr.strip().splitlines() or [error.message.seen])[-1]
        why = why.removeprefix("Error response from daemon: ")
        unreachable = any(words in why.lower() for words in _NOBODY_ANSWERS)
        if "no such host" in why.lower():
            why = f"{host}: its name is not known here"  # the engine's own words end in the address of a name server
        if unreachable:
            _unreachable[host] = why
        return why
    return ""


def forget_unreachable() -> None:
    """Forget which registries did not answer."""
    _unreachable.clear()
