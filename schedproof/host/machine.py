"""Facts about the machine that schedproof runs on, read from its own files; a test reads them from a folder instead."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

CAP_SYS_RESOURCE = 24
"""Bit of the capability in ``/proc/PID/status``: capabilities(7)."""

_PLACES_OF_DAEMONS = ("usr/local/sbin", "usr/sbin", "sbin")
"""Folders, below the root, that an ordinary user's PATH leaves out."""


def _usable_cpus() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


@dataclass(frozen=True)
class Process:
    """A live process: its number alone may have been given to another one since.

    Attributes:
        pid: Its number.
        name: Name of its program, at most 15 characters (``/proc/PID/stat``).
        started: Clock ticks after boot at which it began.
    """

    pid: int
    name: str
    started: int


@dataclass(frozen=True)
class Machine:
    """Where the facts are read.

    Attributes:
        root: Root of the file system for all files but ``/proc/PID``.
        proc: Where processes are looked up.
        uid: User id of this process.
        environ: Its environment.
        architecture: As ``uname -m`` says it.
        cpus: Processors that this process may use.
        system: ``Linux``, ``Darwin`` ...
    """

    root: Path = Path("/")
    proc: Path = Path("/proc")
    uid: int = field(default_factory=os.getuid)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    architecture: str = field(default_factory=platform.machine)
    cpus: int = field(default_factory=_usable_cpus)
    system: str = field(default_factory=platform.system)

    @property
    def is_root(self) -> bool:
        """Whether this process may change the machine."""
        return self.uid == 0

    @property
    def systemd(self) -> bool:
        """Whether systemd is the first process: sd_booted(3)."""
        return self.path("run/systemd/system").is_dir()

    @property
    def lacks_sys_resource(self) -> bool:
        """Whether no process of this machine can have CAP_SYS_RESOURCE: root of a cut-down machine or container."""
        bounding = self.fields("proc/self/status").get("CapBnd", "")
        return bool(bounding) and not int(bounding, 16) >> CAP_SYS_RESOURCE & 1

    @property
    def os_release(self) -> dict[str, str]:
        """``/etc/os-release``, e.g. ``ID``, ``VERSION_ID``, ``VERSION_CODENAME``; empty where there is none."""
        pairs = (line.split("=", 1) for line in self.text("etc/os-release").splitlines() if "=" in line)
        return {name.strip(): value.strip().strip("\"'") for name, value in pairs}

    @property
    def cgroup_version(self) -> int:
        """2 where the unified hierarchy alone is mounted, else 1 (hybrid counts as 1); 0 when it cannot be told."""
        if self.path("sys/fs/cgroup/cgroup.controllers").exists():
            return 2
        return 1 if self.path("proc/cgroups").exists() else 0

    def path(self, place: str) -> Path:
        """Return ``place`` (without a leading slash) below the root."""
        return self.root / place

    def text(self, place: str) -> str:
        """Return a file's text; empty when it is not there or may not be read."""
        try:
            return self.path(place).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def fields(self, place: str) -> dict[str, str]:
        """Return a file of ``name: value`` lines, such as ``/proc/meminfo``."""
        pairs = (line.split(":", 1) for line in self.text(place).splitlines() if ":" in line)
        return {name.strip(): value.strip() for name, value in pairs}

    def number(self, place: str) -> int | None:
        """Return the number that a file holds; None when it holds none."""
        text = self.text(place).strip()
        return int(text) if text.isdigit() else None

    def memory(self, name: str) -> int | None:
        """Return a line of ``/proc/meminfo`` (``MemAvailable``, ``SwapTotal``) in bytes; None where there is none."""
        value = self.fields("proc/meminfo").get(name, "").split()
        return int(value[0]) * 1024 if value and value[0].isdigit() else None

    def free(self, place: Path) -> int | None:
        """Return the free bytes of the disk that ``place`` is or will be on; None when it cannot be told."""
        for folder in (place, *place.parents):
            try:
                return shutil.disk_usage(folder).free
            except FileNotFoundError:
                continue
            except OSError:
                return None
        return None

    def which(self, name: str) -> str | None:
        """Return where a program is: on PATH, else in the folders of daemons."""
        daemons = os.pathsep.join(str(self.path(place)) for place in _PLACES_OF_DAEMONS)
        return shutil.which(name) or shutil.which(name, path=daemons)

    def process(self, pid: int) -> Process | None:
        """Return the live process of that number; a zombie is none."""
        try:
            text = (self.proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        # pid (name) state ppid ...: the name may hold spaces and brackets, so the last one counts. proc(5)
        name, _, rest = text.partition("(")[2].rpartition(")")
        columns = rest.split()
        if not columns or columns[0] in "ZX":
            return None
        return Process(pid, name, int(columns[19]))
