"""Build Go programs of our own (pause, plugins, mutant schedulers) under the same rules as everybody else's."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from schedproof.errors import ProgramError
from schedproof.programs import cache, gobuild, module
from schedproof.programs.provider import architecture
from schedproof.programs.table import KUBERNETES
from schedproof.progress import Step, progress


def build_own(folder: Path, name: str, *, package: str = ".", kubernetes: str = "", stamps: Sequence[str] = ()) -> Path:
    """Build the Go program in ``folder`` (a module with a go.mod) as ``name``, once for each state of its sources.

    The folder is copied first, so that Go never writes into a checkout.

    Args:
        folder: The module.
        name: File name of the program.
        package: Go package below the folder.
        kubernetes: Build against this Kubernetes version: its module, Go line and replacements are added to go.mod, and
            the version is stamped as into Kubernetes' own programs.
        stamps: More Go variables to set, ``package.variable=value``.

    Raises:
        ProgramError: There is no module, or Go could not build it.
    """
    if not (folder / "go.mod").is_file():
        raise ProgramError(f"{folder} holds a Go module", seen="there is no go.mod")
    key = _key(folder, name, package, kubernetes, *stamps)
    shelf = cache.shelf("own", key)
    if isinstance(ready := cache.found(shelf / name), Path):
        return ready
    with (
        progress.step(f"{name} from {folder.name}" + (f" with Kubernetes {kubernetes}" if kubernetes else "")) as step,
        gobuild.waited_lock(f"programs-own-{key}", lambda: step.say("waits for another run that makes the same")),
    ):
        ready = cache.found(shelf / name)
        if isinstance(ready, Path):
            return ready
        if (shelf / name).exists():
            step.say(ready.why)
        making = shelf / ".making"
        shutil.rmtree(making, ignore_errors=True)
        try:
            made = _build(folder, making, step, package=package, kubernetes=kubernetes, stamps=stamps)
            return cache.store(made, shelf / name, version=kubernetes or key, provider="module")
        finally:
            shutil.rmtree(making, ignore_errors=True)


def _build(folder: Path, making: Path, step: Step, *, package: str, kubernetes: str, stamps: Sequence[str]) -> Path:
    source, into = making / "src", making / "bin"
    try:
        shutil.copytree(folder, source)
    except OSError as error:
        raise cache.unwritable(source, error) from error
    linker = "-s -w"
    if kubernetes:
        commit = module.write_module(making / "kubernetes", KUBERNETES, kubernetes, step)
        _merge(source, making / "kubernetes" / "go.mod")
        linker = module.ldflags(KUBERNETES, kubernetes, commit)
    stamped = " ".join([linker, *(f"-X={stamp}" for stamp in stamps)])
    gobuild.build(source, [package], into, step, ldflags=stamped)
    programs = [path for path in into.iterdir() if path.is_file()]
    if len(programs) != 1:
        raise ProgramError(f"{folder} builds one program", seen=", ".join(path.name for path in programs) or "none")
    return programs[0]


def _merge(source: Path, theirs: Path) -> None:
    """Add the go, godebug, require and replace lines of ``theirs`` to the module in ``source``."""
    edits: list[str] = []
    for line in theirs.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word in ("go", "godebug"):
            edits.append(f"-{word}={rest}")
        elif word == "require":
            edits.append(f"-require={rest.replace(' ', '@')}")
        elif word == "replace":
            old, _, new = rest.partition(" => ")
            edits.append(f"-replace={old}={new.replace(' ', '@')}")
    gobuild.go("mod", "edit", *edits, cwd=source, seconds=60)


def _key(folder: Path, *more: str) -> str:
    """Return a short hash of all that decides what is built."""
    digest = hashlib.sha256("\0".join((architecture(), *more)).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"\0{path.relative_to(folder)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
