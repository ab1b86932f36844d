"""The base of the document's image: busybox, pulled where that works, else made from Debian's static build."""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from schedproof.command import run
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.host.docker import docker
from schedproof.images import engine
from schedproof.progress import progress
from schedproof.settings import Settings

OFFICIAL = "busybox:1.37"
"""Pinned to a minor release: the document's untagged name would be another image every few months."""

OWN = "schedproof/busybox:debian"


def ensure_busybox(settings: Settings) -> str:
    """Return the tag of a busybox image that is in the engine.

    Order: the official image if it is there already, ours if it is there, the official one pulled, ours made.
    ``PROVIDERS=busybox=pull`` or ``=debian`` forces one.

    Raises:
        ImageError: None can be had; the message says why each was passed over.
    """
    passed_over: list[str] = []
    forced = settings.providers.get("busybox", "")
    for name, provide in _PROVIDERS.items():
        if forced not in ("", name):
            continue
        tag, reason = provide()
        if tag:
            return tag
        passed_over.append(f"{name}: {reason}")
    raise ImageError(
        "a busybox image can be had as the base of the scheduler's image",
        seen="\n".join(passed_over) or f"PROVIDERS=busybox={forced}: there is no such provider",
        cure=f"`docker pull {OFFICIAL}`, or run on Debian, where it is made from the package busybox-static",
    )


def _local() -> tuple[str, str]:
    tag = next((tag for tag in (OFFICIAL, OWN) if engine.exists(tag)), "")
    return tag, f"neither {OFFICIAL} nor {OWN} is in the engine"


def _pull() -> tuple[str, str]:
    reason = engine.pull(OFFICIAL)
    return ("", reason) if reason else (OFFICIAL, "")


def _debian() -> tuple[str, str]:
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return "", "apt-get and dpkg-deb are not here: this is no Debian"
    if (Path("/etc/apt").is_dir()) and not any(Path("/var/lib/apt/lists").glob("*Packages*")):
        run(["apt-get", "update", "-qq"], seconds=120, cure="see what apt-get says above")
    with progress.step("busybox from Debian's static build"), tempfile.TemporaryDirectory() as folder:
        context = Path(folder)
        run(["apt-get", "download", "-qq", "busybox-static"], seconds=120, cwd=context, cure="run apt-get update")
        package = next(context.glob("busybox-static_*.deb"))
        run(["dpkg-deb", "-x", package, context / "package"], seconds=60)
        unpacked = next(
            path for path in (context / "package").rglob("busybox") if path.is_file() and path.parent.name == "bin"
        )
        shutil.copy2(unpacked, context / "busybox")
        shutil.copy2(manifests("images", "busybox", "Dockerfile"), context / "Dockerfile")
        shutil.rmtree(context / "package")
        package.unlink()
        docker(
            "build", "--quiet", "--tag", OWN, "--label", f"schedproof.arch={platform.machine()}", context, seconds=120
        )
    return OWN, ""


_PROVIDERS: dict[str, Callable[[], tuple[str, str]]] = {"local": _local, "pull": _pull, "debian": _debian}
"""Tried in this order."""
