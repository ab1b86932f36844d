"""The first document's image, built as the document builds it: a Dockerfile, the program beside it, `docker build`."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from schedproof.command import CommandFailed
from schedproof.errors import ClaimFailed, ImageError
from schedproof.host.docker import docker
from schedproof.images import engine
from schedproof.images.scheduler import COMMAND, version_inside

if TYPE_CHECKING:
    from schedproof.cluster.facts import Facts

SECONDS = 120.0
LABEL = "schedproof.build"


def build(dockerfile: str, facts: Facts, base: str, tag: str) -> None:
    """Build an image from a Dockerfile that finds the scheduler under test beside it, as ``kube-scheduler``.

    Args:
        dockerfile: Its text; the build argument BASE is the busybox image.
        facts: Says where the program is in the image under test.
        base: A busybox image in the engine.
        tag: The image's name, e.g. ``127.0.0.1:32768/schedproof/my-scheduler:1.0``.

    Raises:
        ImageError: The engine cannot build it.
    """
    with tempfile.TemporaryDirectory(prefix="image-") as name:
        folder = Path(name)
        (folder / "Dockerfile").write_text(dockerfile, encoding="utf-8")
        _take_program(facts, folder / "kube-scheduler")
        try:
            # A label of its own, so that no other image of the same program can be taken for this one.
            own = f"{LABEL}={secrets.token_hex(8)}"
            docker(
                "build", "--quiet", "--build-arg", f"BASE={base}", "--label", own, "--tag", tag, folder, seconds=SECONDS
            )
        except CommandFailed as error:
            raise ImageError(f"`docker build -t {tag} .` builds an image", seen=error.message.seen) from error


def assert_as_documented(image: str, base: str, version: str) -> None:
    """Assert that an image starts from a base, and has the scheduler where the document adds it.

    Args:
        image: Its name or id in the engine.
        base: The base's.
        version: What the program answers to ``--version``.

    Raises:
        ClaimFailed: It is another image.
    """
    layers, under = _layers(image), _layers(base)
    if layers[: len(under)] != under or layers == under:
        raise ClaimFailed(
            f"the image {image} starts from {base} and adds to it",
            seen=f"of its {len(layers)} layers {sum(layer in under for layer in layers)} are that base's {len(under)}",
            cause="its Dockerfile says another FROM",
        )
    answer, said = version_inside(image, COMMAND)
    if answer != version:
        raise ClaimFailed(
            f"{COMMAND} in the image {image} is kube-scheduler {version}",
            seen=said,
            cause="its Dockerfile puts the program elsewhere, or adds another one",
        )


def _take_program(facts: Facts, target: Path) -> None:
    made = docker("create", "--network", "none", facts.scheduler_image, "none").stdout.strip()
    try:
        docker("cp", f"{made}:{facts.scheduler_command}", target, seconds=SECONDS)
    finally:
        docker("rm", "--force", made, check=False)


def _layers(image: str) -> list[str]:
    found = engine.inspect(image) or {}
    return list((found.get("RootFS") or {}).get("Layers") or [])
