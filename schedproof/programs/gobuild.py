"""Run the Go tool: one environment for all builds, so that they share one build cache, which is kept within bounds."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from schedproof import folders
from schedproof.command import CommandFailed, Completed, run
from schedproof.errors import HarnessError, ProgramError
from schedproof.programs.provider import architecture
from schedproof.programs.table import GO_FLOOR
from schedproof.progress import Step, progress

BUILD_CACHE_BOUND = 6 << 30
"""Bytes that Go's build cache may have after a build. One Kubernetes version takes about 4 GiB."""

BUILD_CACHE_AFTERWARDS = 5 << 30
"""Bytes that are left of it when it was over; less than the bound, or every small build would remove a little."""

BUILD = 3600.0
"""Seconds for one build: the seven Kubernetes programs take 6 minutes on 2 busy cores, with nothing cached."""

DOWNLOAD = 900.0
"""Seconds for Go to download modules."""

_PACKAGE = re.compile(r"[\w.~-]+(/[\w.~-]+)*")


class GoError(ProgramError):
    """Go is missing, too old, or could not build."""


def environment(*, cgo: bool = False) -> dict[str, str]:
    """Return what every run of Go gets on top of the caller's environment (``GOPROXY`` and such stay the user's)."""
    go = folders.cache() / "go"
    return {
        "CGO_ENABLED": "1" if cgo else "0",
        "GOARCH": architecture(),
        "GOCACHE": str(go / "build"),
        "GOFLAGS": "-modcacherw -buildvcs=false",
        "GOMODCACHE": str(go / "mod"),
        "GOOS": "linux",
        "GOPATH": str(go / "path"),
        "GOWORK": "off",
    }


def go(
    *args: str | Path,
    cwd: Path,
    seconds: float,
    step: Step | None = None,
    on_line: Callable[[str], None] | None = None,
    cgo: bool = False,
) -> Completed:
    """Run ``go ARGS`` in ``cwd``; its downloads are shown in ``step``.

    Raises:
        GoError: Go is missing, or ended with an error; the message says what its output means.
    """
    program = shutil.which("go")
    if program is None:
        raise GoError(
            "Go is on PATH",
            seen="there is no Go on PATH",
            cure=f"install Go {GO_FLOOR} or newer (https://go.dev/dl) and put it on PATH",
        )

    def line(text: str) -> None:
        if step is not None and text.startswith("go: downloading"):
            step.note(text.removeprefix("go: "))
        elif on_line is not None:
            on_line(text)

    try:
        return run([program, *args], seconds=seconds, env=environment(cgo=cgo), cwd=cwd, on_line=line)
    except CommandFailed as error:
        raise _explained(error) from error


def _explained(error: CommandFailed) -> GoError:
    """Say what Go's output means; of `go mod download -json` its one interesting line."""
    told = re.search(r'"Error": (".*")', error.stderr)
    seen = str(json.loads(told.group(1))) if told else error.message.seen
    for pattern, cause, cure in (
        (
            r"requires go >= ([\d.]+)",
            "the Go on PATH is too old for this module, and GOTOOLCHAIN=local keeps it from fetching a newer one",
            "install Go {0} or newer, or set GOTOOLCHAIN=auto",
        ),
        (
            r"no space left on device",
            "the disk is full: Go's build cache takes about 4 GiB a Kubernetes version",
            "free space (`make clean` lists what is ours), or choose another place with SCHEDPROOF_CACHE",
        ),
        (
            r"unknown revision|403 Forbidden|404 Not Found|410 Gone|no matching versions",
            "the Go module proxy does not serve this version",
            "ask for a version that it serves (docs/programs.md), or set GOPROXY to one that does",
        ),
        (
            r"dial tcp|no such host|i/o timeout|proxyconnect|connection refused|TLS handshake",
            "the Go module proxy cannot be reached",
            "set GOPROXY to one that can be reached, or HTTPS_PROXY",
        ),
        (
            r'(?:gcc|cc|C compiler "[^"]*")(?:": executable file)? not found',
            "a C compiler is missing: this program is built with cgo",
            "install one (Debian: apt-get install gcc libc6-dev)",
        ),
    ):
        if found := re.search(pattern, error.stderr):
            return GoError(error.message.expected, seen=seen, cause=cause, cure=cure.format(*found.groups()))
    return GoError(error.message.expected, seen=seen)


def read_json(done: Completed) -> dict[str, Any]:
    """Return what Go printed as JSON.

    Raises:
        GoError: It is none.
    """
    try:
        data = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise GoError(f"`{' '.join(done.argv)}` prints JSON", seen=done.stdout[:300] or "nothing") from error
    return data if isinstance(data, dict) else {}


def require_version(wanted: str, cwd: Path) -> None:
    """Make sure that Go is new enough for a module, or may fetch itself a newer one (GOTOOLCHAIN).

    Raises:
        GoError: It is neither.
    """
    facts = read_json(go("env", "-json", "GOVERSION", "GOTOOLCHAIN", cwd=cwd, seconds=60))
    seen, toolchain = str(facts.get("GOVERSION", "")), str(facts.get("GOTOOLCHAIN", ""))
    if _release(seen) < _release(wanted) and not re.search("auto|path", toolchain):
        raise GoError(
            f"Go {wanted} or newer",
            seen=f"{seen or 'no version'}, and GOTOOLCHAIN={toolchain} keeps it from fetching a newer one",
            cure=f"install Go {wanted} (https://go.dev/dl), or set GOTOOLCHAIN=auto",
        )


def _release(text: str) -> tuple[int, ...]:
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups()) if found else (0,)


def build(
    folder: Path, packages: Sequence[str], into: Path, step: Step, *, ldflags: str = "-s -w", cgo: bool = False
) -> None:
    """Build the programs of these packages, all in one go, into the folder ``into``.

    Raises:
        GoError: Go could not.
    """
    into.mkdir(parents=True, exist_ok=True)
    with _one_build_at_a_time(step):
        step.note("listing packages")
        listed = go("list", "-mod=mod", "-deps", *packages, cwd=folder, seconds=DOWNLOAD, step=step, cgo=cgo)
        count = _Count(step, len(listed.stdout.split()))
        command = ["build", "-v", "-trimpath", "-mod=mod", f"-ldflags={ldflags}", "-o", f"{into}/", *packages]
        try:
            go(*command, cwd=folder, seconds=BUILD, step=step, on_line=count, cgo=cgo)
        finally:
            _bound(step)


class _Count:
    """Counts the packages that ``go build -v`` names: the bar on a terminal, a line per quarter in a log."""

    def __init__(self, step: Step, total: int) -> None:
        self._step, self._total, self._done, self._quarter = step, total, 0, 1

    def __call__(self, line: str) -> None:
        if not _PACKAGE.fullmatch(line):
            return
        self._done += 1
        self._step.note(f"compiling {line}")
        self._step.advance(self._done, max(self._total, self._done))
        if self._total and self._done * 4 >= self._quarter * self._total:
            self._step.say(
                f"{self._done} of at most {self._total} packages compiled, {self._step.seconds:.0f} s so far"
            )
            self._quarter += 1


@contextlib.contextmanager
def _one_build_at_a_time(step: Step) -> Iterator[None]:
    """Two builds at once gain nothing, and none may lose the build cache that it is using."""
    with waited_lock("go-build", lambda: step.say("waits for another Go build to end")):
        yield


@contextlib.contextmanager
def waited_lock(name: str, waits: Callable[[], None]) -> Iterator[None]:
    """Hold a lock, and call ``waits`` first when somebody else has it."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folders.lock(name, seconds=0))
        except HarnessError:
            waits()
            stack.enter_context(folders.lock(name))
        yield


def _bound(step: Step) -> None:
    """Remove what was used least recently until the build cache is within its bound, as Go does by age."""
    files = sorted(_files(folders.cache() / "go" / "build"))
    size = sum(bytes_ for _, bytes_, _ in files)
    if size <= BUILD_CACHE_BOUND:
        return
    removed = 0
    for _, bytes_, path in files:
        if size - removed <= BUILD_CACHE_AFTERWARDS:
            break
        with contextlib.suppress(OSError):
            Path(path).unlink()
        removed += bytes_
    step.say(
        f"Go's build cache was over {_gib(BUILD_CACHE_BOUND)}: removed {_gib(removed)} of it, longest unused first"
    )


def _files(folder: Path) -> Iterator[tuple[float, int, str]]:
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                yield from _files(Path(entry.path))
            else:
                with contextlib.suppress(OSError):
                    seen = entry.stat(follow_symlinks=False)
                    yield seen.st_mtime, seen.st_size, entry.path


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


def prune() -> int:
    """Remove Go's build cache and return its bytes; finished programs and downloaded modules stay."""
    place = folders.cache() / "go" / "build"
    with waited_lock("go-build", lambda: progress.line("waiting for a Go build to end")):
        size = sum(bytes_ for _, bytes_, _ in _files(place))
        shutil.rmtree(place, ignore_errors=True)
    return size
