"""What claims assert about old lines, with messages that quote the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedproof.errors import ClaimFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schedproof.legacy.program import Outcome


def assert_refused(outcome: Outcome, *, saying: str, named: str = "") -> None:
    """Assert that the program exits at a line, says why, and that the harness names what to write instead.

    Args:
        outcome: How the program ended.
        saying: Words that it says.
        named: Words of the cause that the harness names; empty: any.

    Raises:
        ClaimFailed: It accepts the line, says something else, or the harness does not name it.
    """
    expected = f"kube-scheduler {outcome.version} exits at `{outcome.line}` and says: {saying}"
    said = outcome.said.replace('\\"', '"')  # klog writes an error as a quoted text
    if outcome.code == 0:
        raise ClaimFailed(expected, seen=f"it accepts the line; {_runs(outcome)}", cause="the line is one of today's")
    if saying not in said and saying not in outcome.said:
        raise ClaimFailed(expected, seen=f"exit code {outcome.code}: {outcome.words}", cause=outcome.cause)
    if named not in outcome.cause:
        raise ClaimFailed(
            f"the harness names the cause of `{outcome.line}`: {named}", seen=outcome.cause or "it names none"
        )


def assert_configured(outcome: Outcome, field: str, value: Any) -> None:
    """Assert what the configuration, with which the program would run, has in a field.

    Args:
        outcome: How the program ended.
        field: Path of the field, its steps separated by blanks; a number is a place in a list.
        value: What stands there.

    Raises:
        ClaimFailed: The program exits, or something else stands there.
    """
    expected = (
        f"kube-scheduler {outcome.version} runs with {field.replace(' ', '.')} = {value} when given: {outcome.line}"
    )
    _refuse_exit(outcome, expected)
    found = _at(outcome.configuration, field)
    if found != value:
        raise ClaimFailed(expected, seen=f"it is {found}", cause="the configuration says something else, or nothing")


def assert_serves(outcome: Outcome, names: Sequence[str]) -> None:
    """Assert which names a scheduler with this line serves.

    Raises:
        ClaimFailed: The program exits, or serves others.
    """
    expected = f"kube-scheduler {outcome.version} serves {', '.join(names)} when given: {outcome.line}"
    _refuse_exit(outcome, expected)
    if outcome.served != list(names):
        raise ClaimFailed(expected, seen=_runs(outcome), cause="its configuration has other profiles")


def assert_flags(outcome: Outcome, *, known: Sequence[str], gone: Sequence[str]) -> None:
    """Assert which flags the program's own reference (``--help``) has and has no longer.

    Raises:
        ClaimFailed: One is missing, or one is still there.
    """
    has = {word.strip(",").partition("=")[0] for word in outcome.printed.split() if word.startswith("--")}
    missing, left = [flag for flag in known if flag not in has], [flag for flag in gone if flag in has]
    if missing or left:
        raise ClaimFailed(
            f"the reference of kube-scheduler {outcome.version} has {', '.join(known)}, but not {', '.join(gone)}",
            seen="; ".join([*(f"it has no {flag}" for flag in missing), *(f"it still has {flag}" for flag in left)]),
        )


def _refuse_exit(outcome: Outcome, expected: str) -> None:
    if outcome.code != 0:
        raise ClaimFailed(expected, seen=f"it exits with {outcome.code}: {outcome.words}", cause=outcome.cause)


def _runs(outcome: Outcome) -> str:
    return f"it would run and serve {', '.join(outcome.served) or 'nothing'}"


def _at(content: Any, field: str) -> Any:
    for step in field.split():
        if isinstance(content, list):
            content = content[int(step)] if int(step) < len(content) else None
        else:
            content = content.get(step) if isinstance(content, dict) else None
    return content
