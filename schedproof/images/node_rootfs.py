"""The Debian system below a node image: made by mmdebstrap from the machine's own apt sources, or parts of it."""

from __future__ import annotations

import copy
import hashlib
import os
import platform
import re
import shutil
import tarfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from schedproof import folders
from schedproof.command import run
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.host.docker import docker
from schedproof.images import engine
from schedproof.progress import Step, progress

BOOTSTRAP = 900.0
"""Seconds for mmdebstrap: about 40 with a near mirror, and 90 MB must come through a slow one."""

STALE = 30 * 86400.0
"""Seconds after which a kept system is made anew, so that it has Debian's security updates."""

_LEFT_OUT = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*", "/usr/share/lintian/*")
_KEPT = ("/usr/share/doc/*/copyright",)

_MERGED = ("bin", "lib", "lib32", "lib64", "sbin")
"""Folders that are links into /usr on Debian 12 and later."""


def packages() -> tuple[str, ...]:
    """Return the packages of manifests/images/node/packages.txt."""
    lines = manifests("images", "node", "packages.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def ensure_rootfs() -> Path:
    """Return a tar archive of the system's root, made now or kept from an earlier run.

    Raises:
        ImageError: This is no Debian machine, its apt has no Debian source, or mmdebstrap cannot be had.
        CommandFailed: mmdebstrap failed.
    """
    suite, sources = debian_sources()
    key = hashlib.sha256("\n".join((suite, platform.machine(), *packages())).encode()).hexdigest()[:12]
    target = folders.cache() / "images" / f"debian-{suite}-{key}.tar"
    with folders.lock(f"rootfs-{key}"):
        if target.is_file() and time.time() - target.stat().st_mtime < STALE:
            return target
        for left in (*target.parent.glob(f".{target.name}.*"), *target.parent.glob("mmdebstrap.*")):
            _remove(left)  # of a killed run; the lock is ours
        with progress.step(f"Debian {suite} for the node image") as step, folders.whole_file(target) as part:
            require_mmdebstrap(step)
            arguments = [f"--dpkgopt=path-exclude={path}" for path in _LEFT_OUT]
            arguments += [f"--dpkgopt=path-include={path}" for path in _KEPT]
            arguments += [f"--aptopt={option}" for option in _apt_proxies()]
            arguments += ["--variant=minbase", "--format=tar", f"--include={','.join(packages())}"]
            run(
                ["nice", "mmdebstrap", *arguments, suite, part, *sources],
                seconds=BOOTSTRAP,
                # Root's temporary files lie where they are found again; a user's namespace cannot reach a home folder.
                env={"TMPDIR": str(target.parent)} if os.geteuid() == 0 else None,
                on_line=lambda line: step.note(line.removeprefix("I: ")),
                cure="look whether `apt-get update` works on this machine: mmdebstrap uses the same sources",
            )
    return target


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def ensure_base_image(rootfs: Path) -> str:
    """Return the tag of the system as an image, imported unless the engine has it."""
    stamp = hashlib.sha256(f"{rootfs.name}\0{rootfs.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    tag = f"schedproof/node-base:{stamp}"
    if not engine.exists(tag):
        with progress.step("import of Debian into the engine"):
            docker("import", rootfs, tag, seconds=300)
    return tag


def debian_sources() -> tuple[str, list[str]]:
    """Return the suite of this machine and the lines for mmdebstrap, with the mirror that this machine's apt uses.

    Raises:
        ImageError: The machine is no Debian, or its apt has no source for its own suite.
    """
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        facts = {}
    suite = facts.get("VERSION_CODENAME", "")
    if facts.get("ID") != "debian" or not suite:
        raise ImageError(
            "a node image is built on a Debian machine (12 or newer)",
            seen=facts.get("PRETTY_NAME", "an unknown system"),
            cure="give one with NODE_IMAGE=, or make kindest/node pullable",
        )
    asked = run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)"],
        seconds=60,
        cure="repair this machine's apt sources",
    )
    wanted = {suite, f"{suite}-updates", f"{suite}-security"}
    # One row for each kind of index, hence the dict. mmdebstrap finds the keyring by itself.
    lines: dict[str, None] = {}
    for row in asked.stdout.splitlines():
        match row.split():
            case [uri, name, "main"] if name in wanted:
                lines[f"deb {uri} {name} main"] = None
    if not lines:
        raise ImageError(
            f"apt on this machine has a source for Debian {suite}",
            seen=asked.stdout[:300] or "no sources",
            cure="add Debian's own suite to /etc/apt/sources.list.d",
        )
    return suite, list(lines)


def require_mmdebstrap(step: Step) -> None:
    """Make sure that mmdebstrap is there; root installs it.

    Raises:
        ImageError: It is missing and we are not root.
    """
    if shutil.which("mmdebstrap"):
        return
    if os.geteuid() != 0:
        raise ImageError(
            "the program mmdebstrap is on PATH, to make the Debian system of a node image",
            cure="as root: apt-get install --no-install-recommends mmdebstrap",
        )
    step.say("installs the package mmdebstrap")
    environment = {"DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-q"], seconds=300, env=environment, cure="repair this machine's apt sources")
    run(
        ["apt-get", "install", "-y", "-q", "--no-install-recommends", "mmdebstrap"],
        seconds=300,
        env=environment,
        cure="install mmdebstrap by hand",
    )


def _apt_proxies() -> list[str]:
    """Return this machine's apt proxies; mmdebstrap reads none of its configuration by itself."""
    dump = run(["apt-config", "dump", "--format", '%f "%v";%n', "Acquire"], seconds=60, check=False).stdout
    return [
        line for line in dump.splitlines() if re.match(r"Acquire::https?::Proxy\S* \"[^\"]+\";", line, re.IGNORECASE)
    ]


def copy_packages(rootfs: Path, names: Sequence[str], archive: tarfile.TarFile) -> None:
    """Copy the files of some packages, and of the libraries that they need, out of the system into an archive.

    Raises:
        ImageError: A package is not in the system.
    """
    with tarfile.open(rootfs) as system:
        members = {member.name.removeprefix("./"): member for member in system.getmembers()}
        needed = _with_libraries(_read(system, members, "var/lib/dpkg/status"), names)
        for link in _MERGED:
            if link in members:
                archive.addfile(_plain(members[link]))
        done: set[str] = set()
        for package in needed:
            for name in _files_of(system, members, package):
                if name in done or name not in members:
                    continue
                done.add(name)
                entry = _plain(members[name])
                archive.addfile(entry, system.extractfile(members[name]) if entry.isreg() else None)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return an entry as the new archive has it: without the leading ``./``, without a time."""
    entry = copy.copy(member)
    entry.name, entry.mtime, entry.pax_headers = member.name.removeprefix("./"), 0, {}
    if entry.islnk():
        entry.linkname = entry.linkname.removeprefix("./")
    return entry


def _files_of(system: tarfile.TarFile, members: dict[str, tarfile.TarInfo], package: str) -> Iterator[str]:
    pattern = re.compile(rf"var/lib/dpkg/info/{re.escape(package)}(:\w+)?\.list")
    lists = [name for name in members if pattern.fullmatch(name)]
    if not lists:
        raise ImageError(f"the package {package} is in the node's Debian system", seen="dpkg does not know it")
    for name in _read(system, members, lists[0]).splitlines():
        parts = name.strip("/").split("/")
        yield "/".join(["usr", *parts] if parts[0] in _MERGED else parts)


def _with_libraries(status: str, names: Sequence[str]) -> list[str]:
    """Return the packages and, again and again, those of their dependencies that are libraries."""
    depends: dict[str, list[str]] = {}
    for paragraph in status.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Z][\w-]*: ", line))
        text = ",".join((fields.get("Pre-Depends", ""), fields.get("Depends", "")))
        depends[fields.get("Package", "")] = [
            re.split(r"[ (:]", part.split("|")[0].strip())[0] for part in text.split(",") if part.strip()
        ]
    found = list(names)
    for package in found:  # grows while it is walked through
        found.extend(name for name in depends.get(package, []) if name.startswith("lib") and name not in found)
    return found


def _read(system: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str) -> str:
    source = system.extractfile(members[name])
    return source.read().decode("utf-8", errors="replace") if source else ""
