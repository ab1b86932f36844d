"""What we changed to have an engine: written down before it is done, so that it can be undone."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schedproof import folders


class Started(BaseModel):
    """How the engine was started.

    Attributes:
        systemd: By its systemd unit; otherwise by us, as a process of its own.
        pid: Of our process; 0 with systemd.
        ticks: When that process began, in clock ticks after boot: tells it from a later one of the same number.
    """

    model_config = ConfigDict(extra="forbid")

    systemd: bool
    pid: int = 0
    ticks: int = 0


class Record(BaseModel):
    """What is ours on this machine; empty when nothing is."""

    model_config = ConfigDict(extra="forbid")

    packages: list[str] = Field(default_factory=list, description="packages that were not there before")
    files: list[str] = Field(default_factory=list, description="files that we made, below the root")
    data: str = Field(default="", description="folder that only the engine that we installed has filled")
    started: Started | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to undo."""
        return self == Record()


def folder() -> Path:
    """Return the folder of the engine's log."""
    path = folders.state() / "engine"
    path.mkdir(parents=True, exist_ok=True)
    return path


def read() -> Record:
    """Return what was written down; an empty record when nothing was, or nothing that can be read."""
    try:
        return Record.model_validate_json(_path().read_bytes())
    except (OSError, ValidationError):
        return Record()


def write(record: Record) -> Record:
    """Write it down, whole; an empty record removes the file."""
    if record.empty:
        _path().unlink(missing_ok=True)
    else:
        folders.write_text(_path(), record.model_dump_json(indent=1) + "\n")
    return record


def _path() -> Path:
    return folders.state() / "engine.json"
