"""Mutants of test_old_unit_file.py."""

from __future__ import annotations

from schedproof.mutants import mutant


@mutant(
    claim="doubled-backslash",
    input="unit",
    fault="the line ends in a single backslash, as it must",
    expect="systemd ignores the line with --config * it would start: * --config=/etc/kubernetes/config/",
)
def single_backslash(unit: str) -> str:
    return unit.replace("\\\\\n", "\\\n")


@mutant(
    claim="doubled-backslash",
    input="unit",
    fault="somebody took the second line out: there is nothing left to ignore",
    expect="systemd ignores the line with --config, and says so * the unit file has no such line",
)
def second_line_taken_out(unit: str) -> str:
    return "\n".join(line for line in unit.splitlines() if "--config" not in line)


@mutant(
    claim="doubled-backslash",
    input="arguments",
    fault="a shell wrapper starts the program, and takes the backslash for itself",
    expect="exits at * exit code 1: * no configuration has been provided",
)
def taken_by_a_shell(arguments: list[str]) -> None:
    arguments.clear()
