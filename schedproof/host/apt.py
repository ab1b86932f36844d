"""Run apt-get: without questions, patient with a lock that another one holds, and with its progress shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_fixed

from schedproof.command import CommandFailed, Completed, run
from schedproof.errors import EngineError
from schedproof.progress import Step

UPDATE = 300.0
"""Seconds for the package lists: 2 s at a mirror nearby, 40 MB at worst."""

INSTALL = 900.0
"""Seconds to fetch (70 MB) and unpack an engine: 10 s at a mirror nearby."""

ATTEMPTS = 3
"""So often a step that failed on the network is tried; apt itself retries each file, too."""

RETRY_WAIT = wait_fixed(2)

_OPTIONS = (
    "-q", "-y",
    "-o", "DPkg::Lock::Timeout=120",
    "-o", "Acquire::Retries=2",
    "-o", "Acquire::http::Timeout=20",
    "-o", "Acquire::https::Timeout=20",
    "-o", "Dpkg::Options::=--force-confdef",
    "-o", "Dpkg::Options::=--force-confold",
    "-o", "APT::Status-Fd=2",
)  # fmt: skip

_ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "DEBCONF_NONINTERACTIVE_SEEN": "true",
    "NEEDRESTART_SUSPEND": "1",
    "LC_ALL": "C.UTF-8",
}

_STATUS = re.compile(r"^(dl|pm)status:[^:]*:([\d.]+):(.*)$")
_STATUS_LINES = ("dlstatus:", "pmstatus:", "pmconffile:", "media-change:")

_NEW_PACKAGE = re.compile(r"^Inst (\S+) \((\S+)", re.MULTILINE)
_UPGRADED = re.compile(r"^Inst (\S+) \[(\S+)\] \((\S+)", re.MULTILINE)


class AptFailed(EngineError):  # noqa: N818 - says what happened
    """apt-get could not do it; ``stderr`` is what it said, without its progress lines."""

    def __init__(self, what: str, stderr: str) -> None:
        """Show the last lines that apt wrote."""
        cause, cure = _meaning(stderr)
        super().__init__(what, seen="\n".join(stderr.splitlines()[-10:]) or "nothing", cause=cause, cure=cure)
        self.stderr = stderr


def update(step: Step) -> None:
    """Fetch the package lists anew.

    Raises:
        AptFailed: Some list cannot be had, not even after a few attempts.
    """
    step.note("package lists")
    _patiently(lambda: _apt(["update"], step, seconds=UPDATE, what="apt-get update fetches the package lists"))


def has(package: str) -> bool:
    """Return whether apt knows a package of that name."""
    done = run(["apt-cache", "show", "--no-all-versions", package], seconds=60, check=False)
    return done.code == 0 and bool(done.stdout.strip())


def simulate(packages: Sequence[str], step: Step) -> tuple[list[str], list[str]]:
    """Return which packages an installation would add, and which it would upgrade; nothing is changed.

    Raises:
        AptFailed: They cannot be installed here.
    """
    done = _apt(["install", "--simulate", *_INSTALL_WHAT, *packages], step, seconds=120, what=_installs(packages))
    added = [match[1] for match in _NEW_PACKAGE.finditer(done.stdout)]
    upgraded = [f"{match[1]} {match[2]} to {match[3]}" for match in _UPGRADED.finditer(done.stdout)]
    return added, upgraded


def install(packages: Sequence[str], step: Step) -> None:
    """Install packages and what they need, nothing that is only recommended.

    Raises:
        AptFailed: They could not be fetched or set up, not even after a few attempts.
    """
    _patiently(
        lambda: _apt(["install", *_INSTALL_WHAT, *packages], step, seconds=INSTALL, what=_installs(packages)), mend=True
    )


def remove(packages: Sequence[str], step: Step, *, purge: bool) -> None:
    """Remove packages; with ``purge`` their settings too (and, for docker.io, its images and containers).

    Raises:
        AptFailed: apt refused.
    """
    verb = "purge" if purge else "remove"
    _apt([verb, *packages], step, seconds=INSTALL, what=f"apt-get {verb} {' '.join(packages)} succeeds")


_INSTALL_WHAT = ("--no-install-recommends", "--no-remove")


def _installs(packages: Sequence[str]) -> str:
    return f"apt-get install {' '.join(packages)} succeeds"


def _apt(arguments: Sequence[str], step: Step, *, seconds: float, what: str) -> Completed:
    def line(text: str) -> None:
        if found := _STATUS.match(text):
            step.advance(float(found[2]), 100)
            step.note(found[3])

    try:
        return run(["apt-get", *_OPTIONS, *arguments], seconds=seconds, env=_ENVIRONMENT, on_line=line)
    except CommandFailed as error:
        said = [text for text in error.stderr.splitlines() if not text.startswith(_STATUS_LINES)]
        raise AptFailed(what, "\n".join(said).strip() or error.message.seen) from error


def _patiently(action: Callable[[], object], *, mend: bool = False) -> None:
    """Try again what may go well next time; with ``mend`` finish what an interrupted dpkg began."""
    for attempt in Retrying(
        stop=stop_after_attempt(ATTEMPTS), wait=RETRY_WAIT, retry=retry_if_exception(_may_pass), reraise=True
    ):
        with attempt:
            try:
                action()
            except AptFailed as error:
                if mend and "dpkg --configure -a" in error.stderr:
                    run(["dpkg", "--configure", "-a"], seconds=INSTALL, env=_ENVIRONMENT, check=False)
                raise


def _may_pass(error: BaseException) -> bool:
    """Whether it is a fault of the network, or one that was mended; a wrong package name stays wrong."""
    return isinstance(error, AptFailed) and not any(word in error.stderr for word in _LASTING)


_LASTING = ("Unable to locate package", "has no installation candidate", "was not found", "unmet dependencies")


def _meaning(stderr: str) -> tuple[str, str]:
    """Return the likely cause of what apt said, and the cure."""
    for words, cause, cure in (
        (("No space left on device", "not enough free space", "enough free space"), "the disk is full", "free space"),
        (("Could not get lock",), "another package manager holds apt's lock", "wait for it to end, then run again"),
        (
            ("Temporary failure resolving", "Could not resolve", "Could not connect", "Failed to fetch", "timed out"),
            "the package mirror of this machine cannot be reached",
            "check the network, and the proxy in /etc/apt/apt.conf.d; or install Docker by hand",
        ),
        (
            _LASTING,
            "the mirror of this machine does not have these packages",
            "install Docker by hand: https://docs.docker.com/engine/install",
        ),
        (
            ("NO_PUBKEY", "not signed"),
            "a package source's signature cannot be checked",
            "renew its key",
        ),
    ):
        if any(word in stderr for word in words):
            return cause, cure
    return "", "run the same command by hand and mend what it says, or install Docker by hand"
