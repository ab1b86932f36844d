"""Provider ``cache``: programs made by an earlier run. Each has a note beside it, without which it is not used."""

from __future__ import annotations

import hashlib
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from schedproof import folders
from schedproof.errors import ProgramError
from schedproof.programs.provider import Answers, PassedOver, Wanted, architecture
from schedproof.programs.table import Source
from schedproof.progress import Step


class Note(BaseModel):
    """What is known of a file in the cache; stands beside it as ``NAME.json``."""

    model_config = ConfigDict(extra="ignore")

    name: str
    version: str
    arch: str
    provider: str
    sha256: str
    size: int
    mtime_ns: int
    made: str


def shelf(family: str, version: str) -> Path:
    """Return the folder of the programs of one family and version."""
    return folders.cache() / "programs" / family / version


class Cached:
    """Looks into the cache; ``only_from`` limits it to what one provider made."""

    name: Source = "cache"

    def __init__(self, only_from: str = "") -> None:
        self._only_from = only_from

    def offer(self, wanted: Wanted, folder: Path, step: Step) -> Answers:  # noqa: ARG002 - the protocol's
        """Return those that are there and whole."""
        return {
            program.name: found(shelf(program.family.name, wanted.version) / program.name, self._only_from)
            for program in wanted.programs
        }


def found(path: Path, only_from: str = "") -> Path | PassedOver:
    """Return ``path`` if it is the file that was stored there, whole; else why it is not to be used."""
    if not path.exists():
        return PassedOver("not there")
    try:
        note = Note.model_validate_json(_note(path).read_bytes())
        whole = _whole(path, note)
    except (OSError, ValidationError):
        return PassedOver(f"{path} has no note that can be read, it may be half a file; it is made again")
    if not whole:
        return PassedOver(f"{path} is damaged (it is not the file that was stored); it is made again")
    if note.arch != architecture():
        return PassedOver(f"{path} is for {note.arch}")
    if only_from and note.provider != only_from:
        return PassedOver(f"{path} came from {note.provider}, not from {only_from}")
    return path


def _whole(path: Path, note: Note) -> bool:
    """Compare size and time; only when they changed, the checksum."""
    seen = path.stat()
    if (seen.st_size, seen.st_mtime_ns) == (note.size, note.mtime_ns):
        return True
    if seen.st_size != note.size or sha256(path) != note.sha256:
        return False
    _write_note(path, note.model_copy(update={"mtime_ns": seen.st_mtime_ns}))
    return True


def store(made: Path, path: Path, *, version: str, provider: str) -> Path:
    """Move a finished program into its place in one step, and write its note.

    Raises:
        ProgramError: The disk is full, or the folder cannot be written.
    """
    try:
        checksum = sha256(made)
        with folders.whole_file(path, mode=0o755) as part:
            shutil.move(made, part)
        seen = path.stat()
        note = Note(
            name=path.name,
            version=version,
            arch=architecture(),
            provider=provider,
            sha256=checksum,
            size=seen.st_size,
            mtime_ns=seen.st_mtime_ns,
            made=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        _write_note(path, note)
    except folders.NotWritten as error:
        raise unwritable(path, error.error) from error
    except OSError as error:
        raise unwritable(path, error) from error
    return path


def unwritable(path: Path, error: OSError) -> ProgramError:
    """Return the error for a file that could not be written."""
    return ProgramError(
        f"{path} can be written",
        seen=os.strerror(error.errno) if error.errno else str(error),
        cure="free space (`make clean` lists what is ours), or choose another place with SCHEDPROOF_CACHE",
    )


def sha256(path: Path) -> str:
    """Return the checksum of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _note(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _write_note(path: Path, note: Note) -> None:
    folders.write_text(_note(path), note.model_dump_json(indent=1) + "\n")
