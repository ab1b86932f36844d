"""Mutants of test_old_flags.py: the line in its present-day form, so that what is said of the old one is not so."""

from __future__ import annotations

from schedproof.legacy import expectations
from schedproof.legacy.program import Line
from schedproof.mutants import mutant

TODAY = ["--config", "--kubeconfig", "--leader-elect", "--bind-address", "--secure-port", "--version"]


def _old(line: Line) -> expectations.Old:
    return next(old for old in expectations.FLAGS if line in (old.line, old.today))


@mutant(
    claim="old-flag",
    input="line",
    fault="C2 undone: the line is written as it is today",
    expect="exits at * it accepts the line; it would run and serve",
)
def written_as_today(line: Line) -> Line | None:
    return _old(line).today


@mutant(
    claim="old-flag",
    input="line",
    fault="the program exits for another reason: its kubeconfig is not there, so the flag is not what stops it",
    expect="exits at * exit code 1: * no such file or directory",
)
def exits_for_another_reason(line: Line) -> None:
    line.args[:] = ["--kubeconfig=/not-there", "--leader-elect=true"]


@mutant(
    claim="replaced-flag",
    input="line",
    fault="whoever moved from the flag to the file forgot the field: the default stands there",
    expect="runs with * it is",
)
def field_forgotten(line: Line) -> None:
    for forgotten in ("profiles", "leaderElection"):
        line.files[expectations.CONFIG].pop(forgotten, None)
    line.files[expectations.CONFIG]["profiles"] = [{"schedulerName": "another"}]


@mutant(
    claim="replaced-flag",
    input="line",
    fault="the flag was left beside the file that replaces it",
    expect="runs with * it exits with 1: * this kube-scheduler has no flag",
)
def flag_left_beside(line: Line) -> None:
    line.args.append(_old(line).line.args[-1])


@mutant(
    claim="flags-of-today",
    input="known",
    fault="a reference of the documents' time: it has --scheduler-name",
    expect="the reference of kube-scheduler * it has no --scheduler-name",
)
def reference_of_that_time(known: list[str]) -> None:
    known.append("--scheduler-name")


@mutant(
    claim="flags-of-today",
    input="line",
    fault="an old program that still has a flag of that time",
    expect="the reference of kube-scheduler * it still has --port",
)
def program_of_that_time(line: Line) -> None:
    line.program = "echo"
    line.args[:] = [
        "--config",
        "--kubeconfig",
        "--leader-elect",
        "--bind-address",
        "--secure-port",
        "--version",
        "--port",
    ]
