"""A registry's image, for the document's step "push": pulled where that works, else made from Debian's package."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

from schedproof.command import run
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.host.docker import docker
from schedproof.images import engine
from schedproof.progress import progress

OFFICIAL = "registry:3"
OWN = "schedproof/registry:debian"
PORT = 5000
"""Where either of them listens, plain HTTP."""

SECONDS = 120.0
PACKAGE = "docker-registry"
PROGRAM = "usr/bin/docker-registry"
_LIBRARY = re.compile(r"(/\S+) \(0x")


def ensure_registry_image() -> str:
    """Return the tag of a registry's image that is in the engine.

    Order: one that is there, the official one pulled, ours made.

    Raises:
        ImageError: None can be had; the message says why.
    """
    there = next((tag for tag in (OFFICIAL, OWN) if engine.exists(tag)), "")
    if there:
        return there
    reason = engine.pull(OFFICIAL)
    if not reason:
        return OFFICIAL
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise ImageError(
            "an image of a registry can be had",
            seen=f"{OFFICIAL}: {reason}\napt-get and dpkg-deb are not here: this is no Debian",
            cure=f"`docker pull {OFFICIAL}`, or run on Debian, where it is made from the package {PACKAGE}",
        )
    _make()
    return OWN


def _make() -> None:
    if not any(Path("/var/lib/apt/lists").glob("*Packages*")):
        run(["apt-get", "update", "-qq"], seconds=SECONDS, cure="see what apt-get says above")
    with progress.step("a registry's image from Debian's package"), tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        run(["apt-get", "download", "-qq", PACKAGE], seconds=SECONDS, cwd=context, cure="run apt-get update")
        package = next(context.glob(f"{PACKAGE}_*.deb"))
        run(["dpkg-deb", "-x", package, context / "package"], seconds=60)
        root = context / "root"
        _copy(context / "package" / PROGRAM, root / PROGRAM)
        # Debian links it with the C library; an image of the same machine's own is the smallest that runs it.
        for library in _LIBRARY.findall(run(["ldd", root / PROGRAM], seconds=30).stdout):
            _copy(Path(library), root / library.lstrip("/"))
        _copy(manifests("images", "registry", "registry.yml"), root / "etc" / "registry.yml")
        (root / "var" / "lib" / "registry").mkdir(parents=True)
        _copy(manifests("images", "registry", "Dockerfile"), context / "Dockerfile")
        shutil.rmtree(context / "package")
        package.unlink()
        docker("build", "--quiet", "--tag", OWN, context, seconds=SECONDS)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
