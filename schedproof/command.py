"""Run another program, and say in a failure what can be pasted into a shell.

Programs run in a process group of their own, so that an interruption of ours ends them *and* their children.
Never a shell; the environment is the caller's plus what is given.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from schedproof.errors import HarnessError

STDERR_LINES = 12
"""So many of the last lines of a failed program's output are shown in the message."""


@dataclass(frozen=True)
class Completed:
    """A program that ended.

    Attributes:
        argv: Program and arguments.
        code: Exit code; negative is the signal that ended it.
        stdout: Its standard output, UTF-8, undecodable bytes replaced.
        stderr: Its standard error, the same.
        seconds: Wall time it ran.
    """

    argv: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    seconds: float


class CommandFailed(HarnessError):  # noqa: N818 - says what happened
    """A program exited with another code than 0, could not be started, or ran longer than its deadline."""

    def __init__(
        self, why: str, argv: Sequence[str], *, stderr: str = "", code: int | None = None, cure: str = ""
    ) -> None:
        """Keep the exit code (None: never ended by itself) and the stderr for whoever wants to look closer."""
        tail = "\n".join(stderr.strip().splitlines()[-STDERR_LINES:])
        super().__init__(f"`{pasteable(argv)}` succeeds", seen=f"{why}\n{tail}".strip(), cure=cure)
        self.argv, self.code, self.stderr = tuple(argv), code, stderr


def pasteable(argv: Sequence[str | Path]) -> str:
    """Return the command as a line for a shell, quoted where needed."""
    return shlex.join(str(word) for word in argv)


def run(
    argv: Sequence[str | Path],
    *,
    seconds: float,
    check: bool = True,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | bytes | Path | None = None,
    on_line: Callable[[str], None] | None = None,
    first_output: float | None = None,
    cure: str = "",
) -> Completed:
    """Run a program to its end.

    Args:
        argv: Program and arguments, never through a shell.
        seconds: Deadline; past it the whole process group is killed.
        check: Whether an exit code other than 0 raises.
        env: Added to the caller's environment.
        cwd: Folder to run in.
        stdin: Text, bytes, or a file to read for standard input; without it the input is empty.
        on_line: Called with each line of stderr as it comes (progress of a long build).
        first_output: Seconds within which it must have written a line or ended; past it it is ended as hanging.
        cure: What to do when it fails, for the message.

    Raises:
        CommandFailed: It could not be started, ran too long, or (with ``check``) failed.
    """
    words = [str(word) for word in argv]
    began = time.monotonic()
    try:
        with Path(stdin if isinstance(stdin, Path) else os.devnull).open("rb") as source:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE if isinstance(stdin, str | bytes) else source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **(env or {})},
                cwd=cwd,
                start_new_session=True,
            )
    except OSError as error:
        raise CommandFailed(f"it could not be started: {error}", words, cure=cure) from error
    _live.add(process)
    spoken = threading.Event()
    out, err = _Reader(process.stdout, spoken), _Reader(process.stderr, spoken, on_line)
    try:
        _feed(process, stdin)
        if first_output is not None and not spoken.wait(min(first_output, seconds)):
            end_group(process)
            raise CommandFailed(  # noqa: TRY301 - the `finally` below is wanted here too
                f"nothing was heard of it for {first_output:.0f} s, it was ended", words, cure=cure
            )
        code = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        end_group(process)
        raise CommandFailed(
            f"it did not end within {seconds:.0f} s and was ended", words, stderr=err.text(), cure=cure
        ) from None
    except BaseException:
        end_group(process)
        raise
    finally:
        _live.discard(process)
    done = Completed(tuple(words), code, out.text(), err.text(), time.monotonic() - began)
    if check and code != 0:
        raise CommandFailed(
            f"exit code {code} after {done.seconds:.1f} s",
            words,
            stderr=done.stderr or done.stdout,
            code=code,
            cure=cure,
        )
    return done


def end_group(process: subprocess.Popen[bytes], *, grace: float = 3.0) -> None:
    """End a program and its children: SIGTERM, and SIGKILL after ``grace`` seconds."""
    for number, patience in ((signal.SIGTERM, grace), (signal.SIGKILL, 10.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=patience)
            break
    # The leader has ended; a child of it that pays no heed to SIGTERM has not.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


_live: set[subprocess.Popen[bytes]] = set()


def end_all() -> None:
    """End every program that this process still runs, whichever thread waits for it: an interrupted run leaves none."""
    for process in tuple(_live):
        end_group(process)


def _feed(process: subprocess.Popen[bytes], stdin: str | bytes | Path | None) -> None:
    if process.stdin is None or stdin is None or isinstance(stdin, Path):
        return
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(stdin.encode() if isinstance(stdin, str) else stdin)
        process.stdin.close()


class _Reader:
    """Drains one pipe in a thread, so that a chatty program never blocks on a full one."""

    def __init__(
        self, pipe: IO[bytes] | None, spoken: threading.Event, on_line: Callable[[str], None] | None = None
    ) -> None:
        self._lines: list[bytes] = []
        self._spoken = spoken
        self._on_line = on_line
        self._thread = threading.Thread(target=self._drain, args=(pipe,), daemon=True)
        self._thread.start()

    def _drain(self, pipe: IO[bytes] | None) -> None:
        if pipe is None:
            return
        with pipe:
            for line in pipe:
                self._lines.append(line)
                self._spoken.set()
                if self._on_line is not None:
                    self._on_line(line.decode(errors="replace").rstrip())
        self._spoken.set()  # a closed pipe is the end: nothing more to wait for

    def text(self) -> str:
        # A grandchild that kept the pipe open must not hold us: what came so far is the output.
        self._thread.join(timeout=5)
        return b"".join(self._lines).decode(errors="replace")
