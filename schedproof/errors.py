"""The two families of errors, and the one table of exit codes.

A *harness* error says nothing about the scheduler: the engine, kind, a build, an image or the network was in the way.
A *behaviour* failure says that a claim is false. A *usage* error is the caller's input. Whoever reports an outcome asks
the exception for its ``category``; nobody guesses from the phase of a test.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar, Literal

Category = Literal["behaviour", "harness", "usage"]

MESSAGE_LINES = 25
"""A failure message has at most this many lines; what does not fit is in the evidence."""


class ExitCode(enum.IntEnum):
    """Exit codes of every command. 0 to 5 are pytest's own numbers, so that plain ``pytest e2e/`` agrees."""

    PROVED = 0
    """Everything that was asked for was seen to hold."""
    CLAIM_FAILED = 1
    """At least one claim is false (or a mutant was not caught)."""
    INTERRUPTED = 2
    """SIGINT or SIGTERM; everything of ours was removed."""
    HARNESS = 3
    """The harness could not do its work; this says nothing about the scheduler."""
    USAGE = 4
    """An option, a file or an environment variable is wrong."""
    NOTHING_PROVED = 5
    """No claim was selected."""
    SKIPPED = 6
    """Nothing failed, but a claim was skipped that ``--allow-skip`` does not name: not green."""


@dataclass(frozen=True)
class Message:
    """What a reader needs: one line or a few for each field; empty fields are left out."""

    expected: str
    seen: str = ""
    scheduler: str = ""
    cause: str = ""
    cure: str = ""
    evidence: str = ""

    def __str__(self) -> str:
        """Return the message with its labels, cut to :data:`MESSAGE_LINES` lines."""
        labels = (
            ("expected", self.expected),
            ("seen", self.seen),
            ("scheduler", self.scheduler),
            ("likely cause", self.cause),
            ("what to do", self.cure),
            ("evidence", self.evidence),
        )
        lines: list[str] = []
        for label, text in labels:
            head, *rest = text.strip().splitlines() or [""]
            if head:
                lines.append(f"{label + ':':<14}{head}")
                lines.extend(" " * 14 + line for line in rest)
        if len(lines) > MESSAGE_LINES:
            left_out = len(lines) - MESSAGE_LINES + 1
            lines[MESSAGE_LINES - 1 :] = [" " * 14 + f"... {left_out} more lines in the evidence"]
        return "\n".join(lines)


class SchedproofError(Exception):
    """Base of everything that schedproof raises on purpose.

    Args:
        expected: What should have been so, one sentence.
        seen: What was so instead (a last state, a program's stderr).
        scheduler: State of the scheduler concerned, when there is one.
        cause: The likely cause in words a newcomer understands.
        cure: What to do next.
    """

    category: ClassVar[Category] = "harness"

    def __init__(self, expected: str, *, seen: str = "", scheduler: str = "", cause: str = "", cure: str = "") -> None:
        """Keep the parts; ``str()`` joins them."""
        super().__init__(expected)
        self.message = Message(expected, seen, scheduler, cause, cure)

    def __str__(self) -> str:
        """Return the whole message."""
        return str(self.message)


class HarnessError(SchedproofError):
    """The harness could not do its work: nothing is known about the claim."""


class EngineError(HarnessError):
    """No container engine, or one that does not answer."""


class ProgramError(HarnessError):
    """A program could not be found, downloaded, built or trusted."""


class ImageError(HarnessError):
    """An image could not be built, pulled, loaded, or is not what its name says."""


class ClusterError(HarnessError):
    """A kind cluster could not be made, reached or removed."""


class ApiError(HarnessError):
    """The API server could not be asked, or refused the harness itself."""


class UsageError(SchedproofError):
    """The caller's input is wrong: the message names file, line and cure."""

    category: ClassVar[Category] = "usage"


class ClaimFailed(SchedproofError, AssertionError):  # noqa: N818 - says what happened
    """A claim is false. Raised only for what the scheduler or the cluster did, never for the harness' own trouble."""

    category: ClassVar[Category] = "behaviour"


class WaitTimeout(ClaimFailed):
    """A state was not reached within its named deadline, while the API answered all the time."""


class Unreachable(ClaimFailed):
    """A state can no longer be reached (CrashLoopBackOff, ErrImageNeverPull, ...): waiting was stopped early."""
