"""The one door to the container engine: its command line, so that it works with whatever that line is set up for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from schedproof.command import CommandFailed, Completed, pasteable, run
from schedproof.errors import EngineError

QUICK = 30.0
"""Seconds for a question to a healthy engine; far more than it needs, so that only a dead one runs into it."""

Why = Literal["no program", "down", "denied", "silent"]
"""no program: no docker on PATH. down: nobody listens. denied: this user may not. silent: no answer in time."""

_DOWN = ("cannot connect to the docker daemon", "error during connect", "failed to connect to the docker api")
_DENIED = ("permission denied while trying to connect to the docker",)

_CAUSES: dict[Why, tuple[str, str]] = {
    "no program": (
        "the docker command line is not installed",
        "install Docker (as root on Debian or Ubuntu, `make e2e BOOTSTRAP=1` does it)",
    ),
    "down": (
        "the engine does not run, or ended meanwhile; this says nothing about the scheduler",
        "start it, then run again; `make doctor` says what is wrong with the machine",
    ),
    "denied": (
        "this user may not use the engine",
        "sudo usermod -aG docker $USER, then log in again",
    ),
    "silent": (
        "the engine hangs, or the machine is far too busy",
        "restart the engine (systemctl restart docker), then run again",
    ),
}


class EngineUnreachable(EngineError):  # noqa: N818 - says what happened
    """The container engine could not be asked at all; ``why`` says what stood in the way."""

    def __init__(self, why: Why, seen: str = "") -> None:
        """Keep the reason; cause and cure follow from it."""
        cause, cure = _CAUSES[why]
        super().__init__("the container engine (Docker) answers", seen=seen, cause=cause, cure=cure)
        self.why = why
        self.seen = seen


def docker(
    *args: str | Path,
    seconds: float = QUICK,
    check: bool = True,
    stdin: str | bytes | Path | None = None,
    on_line: Callable[[str], None] | None = None,
    first_output: float | None = None,
    cure: str = "see `make doctor`",
) -> Completed:
    """Run ``docker ARGS``; see :func:`schedproof.command.run` for the rest.

    Raises:
        EngineUnreachable: There is no docker program, or no engine behind it, whatever ``check`` says.
        CommandFailed: With ``check``, the engine refused; always, when it took longer than ``seconds``.
    """
    if shutil.which("docker") is None:
        raise EngineUnreachable("no program", "no program docker on PATH")
    argv = ["docker", *args]
    try:
        done = run(
            argv, seconds=seconds, check=check, stdin=stdin, on_line=on_line, first_output=first_output, cure=cure
        )
    except CommandFailed as error:
        if error.code and (why := unreachable(error.stderr)):
            raise EngineUnreachable(why, f"`{pasteable(argv)}` said: {_last_line(error.stderr)}") from error
        raise
    if done.code and (why := unreachable(done.stderr)):
        raise EngineUnreachable(why, f"`{pasteable(argv)}` said: {_last_line(done.stderr)}")
    return done


def unreachable(stderr: str) -> Why | None:
    """Return why the docker program could not reach its engine; None when its words are about something else."""
    text = _last_line(stderr).lower()
    if any(words in text for words in _DENIED):
        return "denied"
    return "down" if any(words in text for words in _DOWN) else None


def _last_line(stderr: str) -> str:
    """Return the last line that is no hint such as "See 'docker run --help'" ("Run 'docker ..." since 28)."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    spoken = [line for line in lines if not line.lower().startswith(("see 'docker", "run 'docker"))]
    return (spoken or [""])[-1]
