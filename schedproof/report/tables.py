"""The README's tables, from the code that they describe; a self-test holds the README against them."""

from __future__ import annotations

from collections.abc import Iterator

from schedproof.errors import ExitCode
from schedproof.settings import KNOBS

EXIT_CODES: dict[ExitCode, str] = {
    ExitCode.PROVED: "everything that was asked for was seen to hold",
    ExitCode.CLAIM_FAILED: "a claim is false, or a mutant was not caught",
    ExitCode.INTERRUPTED: "Ctrl-C or SIGTERM; what was made has been removed",
    ExitCode.HARNESS: "the harness could not do its work; this says nothing about the scheduler",
    ExitCode.USAGE: "an option, a file or a variable is wrong",
    ExitCode.NOTHING_PROVED: "no claim was selected",
    ExitCode.SKIPPED: "nothing failed, but a claim was skipped that `ALLOW_SKIP` does not name",
}


def knobs() -> Iterator[str]:
    """Yield the table of knobs, line by line, as Markdown."""
    yield "| variable | option | default | meaning |"
    yield "|---|---|---|---|"
    for knob in KNOBS:
        default = f"`{knob.default}`" if knob.default else ""
        yield f"| `{knob.env}` | `{knob.option}` | {default} | {knob.meaning} |"


def exit_codes() -> Iterator[str]:
    """Yield the table of exit codes, line by line, as Markdown."""
    yield "| code | means |"
    yield "|---|---|"
    for code in ExitCode:
        yield f"| {code.value} | {EXIT_CODES[code]} |"
