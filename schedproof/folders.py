"""Where schedproof keeps things, how files get there whole, and who may touch them at a time.

- ``cache()``: finished programs, images, Go build cache. May be deleted at any time.
- ``state()``: who owns which cluster; outside of any working folder so that the next run finds what a killed one left.
- ``artifacts()``: what a run leaves for its reader (results, evidence), below the working folder.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from schedproof.errors import HarnessError


class NotWritten(HarnessError):  # noqa: N818 - says what happened
    """A file could not be written: the disk is full, or the folder may not be written. ``error`` has the reason."""

    def __init__(self, target: Path, error: OSError) -> None:
        """Name the file that was meant, not the part that it was written to."""
        super().__init__(
            f"{target} can be written",
            seen=os.strerror(error.errno) if error.errno else str(error),
            cure="free space (`make clean` lists what is ours) or change the owner, or choose another place with "
            "SCHEDPROOF_CACHE, SCHEDPROOF_STATE or SCHEDPROOF_ARTIFACTS",
        )
        self.error = error


def cache() -> Path:
    """Return the cache folder, made if absent (``$SCHEDPROOF_CACHE``, else in ``$XDG_CACHE_HOME`` or ``~/.cache``)."""
    return _made("SCHEDPROOF_CACHE", "XDG_CACHE_HOME", ".cache")


def state() -> Path:
    """Return the state folder (``$SCHEDPROOF_STATE``, else below ``$XDG_STATE_HOME`` or ``~/.local/state``)."""
    return _made("SCHEDPROOF_STATE", "XDG_STATE_HOME", ".local/state")


def artifacts() -> Path:
    """Return the folder for results and evidence: ``$SCHEDPROOF_ARTIFACTS`` or ``artifacts/`` in the working folder."""
    return _mkdir(Path(os.environ.get("SCHEDPROOF_ARTIFACTS", "artifacts")).absolute())


def _made(own: str, xdg: str, default: str) -> Path:
    if chosen := os.environ.get(own):
        return _mkdir(Path(chosen).absolute())
    base = os.environ.get(xdg)
    return _mkdir((Path(base) if base else Path.home() / default) / "schedproof")


def _mkdir(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HarnessError(
            f"the folder {path} can be made and written",
            seen=str(error),
            cure="free space or change the owner, or choose another place with SCHEDPROOF_CACHE, "
            "SCHEDPROOF_STATE or SCHEDPROOF_ARTIFACTS",
        ) from error
    return path


@contextlib.contextmanager
def whole_file(target: Path, *, mode: int = 0o644) -> Iterator[Path]:
    """Yield a path to write to; it becomes ``target`` in one step, and only if the block ends without an error.

    A reader sees the old file or the new one, never half of one; a full disk or an interruption leaves nothing.

    Raises:
        NotWritten: The disk is full, or the folder may not be written.
    """
    _mkdir(target.parent)
    part: Path | None = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(descriptor)
        part = Path(name)
        yield part
        part.chmod(mode)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(target)
    except OSError as error:
        raise NotWritten(target, error) from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def write_text(target: Path, text: str, *, mode: int = 0o644) -> Path:
    """Write ``text`` as UTF-8 in one step and return the path."""
    with whole_file(target, mode=mode) as part:
        part.write_text(text, encoding="utf-8")
    return target


@contextlib.contextmanager
def lock(name: str, *, seconds: float = 3600.0) -> Iterator[None]:
    """Hold the machine-wide lock ``name`` (below the state folder); other runs wait up to ``seconds`` for it.

    The lock is the kernel's (flock), so it goes with the process that held it, however that ended.
    """
    path = _mkdir(state() / "locks") / f"{name}.lock"
    holder = FileLock(path)
    try:
        holder.acquire(timeout=seconds)
    except Timeout as error:
        raise HarnessError(
            f"the lock {path} becomes free within {seconds:.0f} s",
            seen="another schedproof run still holds it",
            cure="wait for the other run to end, or end it",
        ) from error
    try:
        yield
    finally:
        holder.release()
