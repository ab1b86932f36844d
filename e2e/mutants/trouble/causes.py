"""Mutants of test_causes.py: another fault with the same symptom, no fault at all, a cure that cures nothing."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import faults, troubles
from schedproof.deploy.troubles import Trouble
from schedproof.mutants import mutant


@mutant(
    claim="cause-named",
    input="faults",
    fault="every scheduler has another fault with the same symptom than the one that is told of",
    expect="trouble is named * named is *: *",
)
def another_fault(each: list[Trouble]) -> list[Trouble]:
    return [*each[1:], each[0]]


@mutant(
    claim="cause-named",
    input="faults",
    fault="the last one has no fault: naming a cause for it would be an invention",
    expect="stays Pending * it is bound to",
)
def no_fault(each: list[Trouble]) -> list[Trouble]:
    return [*each[:-1], troubles.NONE]


@mutant(
    claim="cause-named",
    input="cures",
    fault="the first one's cure leaves it without a working command, though the fault that was named is gone",
    expect="pod waits-* is bound * its image has no program /usr/local/bin/kube-schedule",
)
def cure_that_breaks(each: list[list[Object]]) -> list[list[Object]]:
    return [faults.with_program("/usr/local/bin/kube-schedule")(each[0]), *each[1:]]
