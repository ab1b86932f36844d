"""The image of the scheduler under test, whatever it is made from, checked before any cluster exists."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schedproof import programs
from schedproof.command import CommandFailed
from schedproof.data import manifests
from schedproof.errors import ImageError, UsageError
from schedproof.host.docker import docker
from schedproof.images import engine
from schedproof.images.busybox import ensure_busybox
from schedproof.progress import progress
from schedproof.settings import Settings

COMMAND = "/usr/local/bin/kube-scheduler"
"""Where the document's Dockerfile puts the program."""

VERSION_SECONDS = 30.0
"""Deadline of ``--version`` in the image: starting a container takes below one second on a healthy engine."""

BUILD_SECONDS = 1800.0
"""Deadline of a Dockerfile of the user's: it may compile a scheduler."""

_VERSION = re.compile(r"\bv\d+\.\d+\.\d+\S*")


@dataclass(frozen=True)
class SchedulerImage:
    """An image in the engine whose scheduler has answered.

    Attributes:
        tag: Name under which it is loaded into the nodes.
        id: Its config digest, ``sha256:...``; with overlay2 the nodes report the same.
        version: The answer to ``--version``, e.g. ``v1.37.2``; empty when the program names none.
        command: Path of the scheduler program inside.
    """

    tag: str
    id: str
    version: str
    command: str


def ensure_scheduler_image(settings: Settings, kubernetes: str) -> SchedulerImage:
    """Return the image under test, made or pulled if it is not there.

    Args:
        settings: Which scheduler: an image, a Dockerfile, a binary or a version; default the cluster's version.
        kubernetes: Version of the API server, for the default and for the skew rule.

    Raises:
        ImageError: It cannot be built or pulled, or no scheduler in it answers ``--version``.
        UsageError: Its version does not go with the API server's (``ALLOW_SKEW=1`` permits it).
    """
    if settings.scheduler_image:
        tag = _ready_made(settings.scheduler_image)
    elif settings.scheduler_dockerfile:
        tag = _from_dockerfile(Path(settings.scheduler_dockerfile))
    elif settings.scheduler_binary:
        tag = _from_binary(Path(settings.scheduler_binary), "given", settings)
    else:
        version = settings.scheduler_version or kubernetes
        _check_skew(version, kubernetes, settings)
        binary = programs.ensure(["kube-scheduler"], version, settings)["kube-scheduler"]
        tag = _from_binary(binary, version, settings)
    command, version = _scheduler_inside(tag)
    _check_skew(version, kubernetes, settings)
    return SchedulerImage(tag, engine.image_id(tag), version, command)


def _ready_made(tag: str) -> str:
    if not engine.exists(tag) and (reason := engine.pull(tag)):
        raise ImageError(
            f"the image {tag} is in the engine or can be pulled",
            seen=reason,
            cure=f"check the name, `docker pull {tag}` by hand, or build it first",
        )
    return tag


def _from_dockerfile(dockerfile: Path) -> str:
    title = f"building the scheduler's image from {dockerfile.name}"
    with progress.step(title) as step, tempfile.TemporaryDirectory() as folder:
        id_file = Path(folder) / "image-id"
        try:
            docker(
                "build", "--iidfile", id_file, "--file", dockerfile, dockerfile.parent,
                seconds=BUILD_SECONDS, on_line=step.note,
            )  # fmt: skip
        except CommandFailed as error:
            raise ImageError(
                f"{dockerfile} builds an image",
                seen=error.message.seen,
                cure=f"make `docker build -f {dockerfile} {dockerfile.parent}` work first",
            ) from error
        # The name carries the content, so that a kept cluster never runs an older build of the same name.
        tag = f"schedproof/scheduler:{id_file.read_text().strip().removeprefix('sha256:')[:12]}"
        docker("tag", id_file.read_text().strip(), tag)
    return tag


def _from_binary(binary: Path, version: str, settings: Settings) -> str:
    """Build the document's image around a program; one with the same program and recipe is used again."""
    dockerfile = manifests("images", "scheduler", "Dockerfile")
    base = ensure_busybox(settings)
    recipe = hashlib.sha256(f"{_digest(binary)}{_digest(dockerfile)}{engine.image_id(base)}".encode()).hexdigest()[:12]
    tag = f"schedproof/kube-scheduler:{version}-{recipe}"
    if engine.exists(tag):
        return tag
    with progress.step(f"image FROM busybox with kube-scheduler {version}"), _context(binary, dockerfile) as folder:
        docker("build", "--quiet", "--build-arg", f"BASE={base}", "--tag", tag, folder, seconds=300)
    return tag


@contextlib.contextmanager
def _context(binary: Path, dockerfile: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            os.link(binary.resolve(), folder / "kube-scheduler")
        except OSError:  # another file system: copying is only slower
            shutil.copy2(binary, folder / "kube-scheduler")
        if not os.access(folder / "kube-scheduler", os.X_OK):
            raise UsageError(f"{binary} can be executed", seen="its mode forbids it", cure=f"chmod +x {binary}")
        shutil.copy2(dockerfile, folder / "Dockerfile")
        yield folder


def _scheduler_inside(tag: str) -> tuple[str, str]:
    """Return path and version of the scheduler in the image: the program that answers ``--version``."""
    entry = json.loads(docker("image", "inspect", "--format", "{{json .Config}}", tag).stdout)
    started = [*(entry.get("Entrypoint") or []), *(entry.get("Cmd") or [])]
    tried: list[str] = []
    for program in dict.fromkeys([COMMAND, *(word for word in started if not word.startswith("-")), "kube-scheduler"]):
        version, said = version_inside(tag, program)
        if version:
            return program, version
        tried.append(said[:200])
    raise ImageError(
        f"a scheduler in the image {tag} answers --version",
        seen="\n".join(tried),
        cause=f"the Dockerfile puts the program elsewhere than {COMMAND}, it was built for another architecture, "
        "or it needs libraries that the image lacks (build it with CGO_ENABLED=0)",
        cure="put the program at that path, or name it in the image's ENTRYPOINT",
    )


def version_inside(tag: str, program: str) -> tuple[str, str]:
    """Return which version a program of an image answers to ``--version`` ("" when it names none), and what it said."""
    answer = docker(
        "run", "--rm", "--network", "none", "--entrypoint", program, tag, "--version",
        seconds=VERSION_SECONDS, check=False,
    )  # fmt: skip
    text = (answer.stdout or answer.stderr).strip()
    found = _VERSION.search(text) if answer.code == 0 else None
    last = text.splitlines()[-1] if text else "no output"
    return found.group() if found else "", f"{program} --version: exit code {answer.code}: {last}"


def _check_skew(scheduler: str, kubernetes: str, settings: Settings) -> None:
    """Refuse a scheduler that is newer than the API server, or more than one minor version older."""
    difference = _minor(kubernetes) - _minor(scheduler)
    if settings.allow_skew or difference in (0, 1):
        return
    raise UsageError(
        f"the scheduler {scheduler} goes with an API server {kubernetes}",
        seen="the scheduler is newer" if difference < 0 else f"the scheduler is {difference} minor versions older",
        cause="Kubernetes' version skew policy: kube-scheduler must not be newer than kube-apiserver, "
        "and may be up to one minor version older",
        cure="set KUBERNETES_VERSION to the scheduler's minor version, another SCHEDULER_VERSION, or ALLOW_SKEW=1",
    )


def _minor(version: str) -> int:
    major, minor = version.removeprefix("v").split(".")[:2]
    return int(major) * 1000 + int(minor)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]
