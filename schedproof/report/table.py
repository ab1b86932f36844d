"""The table of a run: the same columns on a terminal (in colours) and in a log, at most 100 wide.

Rendered as lines of (text, style) pairs; whoever writes them knows how a style looks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from schedproof.results import Outcome, Result, Run

WIDTH = 100
GOOD, BAD, DOUBTFUL, HEADING, PLAIN = "good", "bad", "doubtful", "heading", "plain"

Line = list[tuple[str, str]]
"""Pieces of one line with their styles."""

STYLE: dict[Outcome, str] = {
    "proved": GOOD,
    "caught": GOOD,
    "false": BAD,
    "survived": BAD,
    "harness": DOUBTFUL,
    "skipped": DOUBTFUL,
}
FAILED: tuple[Outcome, ...] = ("false", "harness", "survived")
"""Outcomes whose message is shown."""

_VERDICT, _CLAIM, _SECONDS = 9, 48, 9
_BINDER = WIDTH - _VERDICT - 1 - _CLAIM - _SECONDS - 2
_TWIN = 8
_OF_CLAIM = 40
_MUTANT = WIDTH - _OF_CLAIM - 1 - _TWIN - 1 - _SECONDS - 2 - len("survived")
_RANDOM = re.compile(r"-[0-9a-f]{6}\b")
"""What makes a claim's scheduler unique; its readers need it in the results file only."""


def name(result: Result) -> str:
    """Return a result's name: the claim, with the mutant behind it."""
    return f"{result.claim} [{result.mutant}]" if result.mutant else result.claim


def live(result: Result) -> Line:
    """Return the line for a claim that has just come to its end."""
    return _row(result, name(result))


def render(run: Run, *, busy: float = 0.0) -> list[Line]:
    """Return the whole table.

    Args:
        run: The run.
        busy: Seconds of all claims together, set-up and teardown included; for the share of idle workers.
    """
    own = [result for result in run.results if not result.mutant]
    mutants = [result for result in run.results if result.mutant]
    lines: list[Line] = []
    if own:
        lines.append([(f"{'verdict':<{_VERDICT}} {'claim':<{_CLAIM}}{'seconds':>{_SECONDS}}  binder", HEADING)])
        lines += [_row(result, result.claim) for result in sorted(own, key=lambda one: one.claim)]
        lines += _skipped(own) + _measured(own)
    if mutants:
        lines += [[("", PLAIN)], *_matrix(own, mutants)]
    if run.not_run:
        lines.append([(_cut(f"not run:  {', '.join(run.not_run)}", WIDTH), DOUBTFUL)])
    return [*lines, [("", PLAIN)], *_totals(run, own, mutants, busy)]


def _row(result: Result, shown: str) -> Line:
    # A mutant's name stands behind its claim's and takes the place of the binder.
    width = _CLAIM + _BINDER if result.mutant else _CLAIM
    binders = dict.fromkeys(_RANDOM.sub("", binder) for binder in result.binder.split(", "))
    binder = "" if result.mutant else _cut(", ".join(binders), _BINDER)
    rest = f" {_cut(shown, width):<{_CLAIM}}{result.seconds:>{_SECONDS - 2}.1f} s  {binder}"
    return [(f"{result.outcome:<{_VERDICT}}", STYLE[result.outcome]), (rest.rstrip(), PLAIN)]


def _measured(own: list[Result]) -> list[Line]:
    """Return what claims measured, one line each."""
    return [
        [(f"measured: {result.claim}: {text}", PLAIN)]
        for result in sorted(own, key=lambda one: one.claim)
        for text in result.measured
    ]


def _skipped(own: Iterable[Result]) -> list[Line]:
    return [
        [(_cut(f"skipped:  {one.claim}: {' '.join(one.message.split())}", WIDTH), DOUBTFUL)]
        for one in own
        if one.outcome == "skipped"
    ]


def _matrix(own: list[Result], mutants: list[Result]) -> list[Line]:
    """Return mutants by claim, each claim with its twin's verdict; a claim without a mutant shows too."""
    width = _OF_CLAIM
    heading = f"{'claim':<{width}} {'twin':<{_TWIN}} {'mutant':<{_MUTANT}}{'seconds':>{_SECONDS}}  verdict"
    lines: list[Line] = [[(heading, HEADING)]]
    for claim in sorted({result.claim for result in own} | {result.claim for result in mutants}):
        twin = next((result for result in own if result.claim == claim), None)
        of_claim = [result for result in mutants if result.claim == claim]
        head: Line = [
            (f"{_cut(claim, width):<{width}} ", PLAIN),
            (f"{twin.outcome if twin else 'not run':<{_TWIN}} ", STYLE[twin.outcome] if twin else DOUBTFUL),
        ]
        if not of_claim:
            lines.append([*head, ("no mutant: this claim is not finished", DOUBTFUL)])
        for one in of_claim:
            rest = f"{_cut(one.mutant, _MUTANT):<{_MUTANT}}{one.seconds:>{_SECONDS - 2}.1f} s  "
            lines.append([*head, (rest, PLAIN), (one.outcome, STYLE[one.outcome])])
            head = [(" " * (width + _TWIN + 2), PLAIN)]
    return lines


def _totals(run: Run, own: list[Result], mutants: list[Result], busy: float) -> list[Line]:
    counts = Counter(result.outcome for result in own)
    said = (
        f"{counts['proved']} claims proved, {counts['false']} false, {counts['harness']} harness, "
        f"{counts['skipped']} skipped"
    )
    said += f" (allowed: {', '.join(run.allowed_skips)})" if run.allowed_skips else ""
    said += f", {len(run.not_run)} not run" if run.not_run else ""
    green = bool(own) and counts["proved"] == len(own) and not run.not_run and not run.harness
    lines: list[Line] = [[(said, GOOD if green else BAD)]]
    if mutants:
        of_mutants = Counter(result.outcome for result in mutants)
        said = (
            f"{of_mutants['caught']} of {len(mutants)} mutants caught, {of_mutants['survived']} survived, "
            f"{of_mutants['harness']} harness"
        )
        lines.append([(said, GOOD if of_mutants["caught"] == len(mutants) else BAD)])
    lines += [[(text, PLAIN)] for text in times(run, busy).splitlines()]
    if any(result.evidence for result in run.results):
        lines.append([("evidence: one folder a failure, named in its message", PLAIN)])
    return lines


def times(run: Run, busy: float) -> str:
    """Return what the run took, in words.

    "In waits" is the time in which a claim waited for the cluster, holds of what must not happen included. "Waiting
    for nothing" is the time of the workers in which they had no claim, as a share of the wall time.
    """
    end = max(0.0, run.seconds - run.prepare_seconds - run.claims_seconds)
    idle = max(0.0, run.claims_seconds - busy / max(1, run.workers))
    nothing = idle / run.seconds if run.seconds else 0.0
    waited = sum(result.waited for result in run.results)
    share = waited / busy if busy else 0.0
    workers = f"{run.workers} worker{'s' if run.workers != 1 else ''}"
    return (
        f"wall time {run.seconds:.1f} s: {run.prepare_seconds:.1f} s until the cluster was ready, "
        f"{run.claims_seconds:.1f} s claims, {end:.1f} s clean-up;\n"
        f"  {busy:.1f} s of claims on {workers}, {share:.0%} of that in waits;\n"
        f"  {nothing:.0%} of the wall time waiting for nothing (a worker without a claim)"
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
