"""The document's unit files: their command goes over two lines with a doubled backslash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof import data
from schedproof.legacy import expectations, unit
from schedproof.legacy.assertions import assert_refused
from schedproof.legacy.program import Line, run

if TYPE_CHECKING:
    from fixtures.mutation import Mutation
    from schedproof.cluster.facts import Facts


@pytest.mark.claim("doubled-backslash", lines=["B-18"])
def test_doubled_backslash_does_not_join_lines_and_is_passed_to_the_program_which_exits(
    facts: Facts, mutation: Mutation
) -> None:
    """A doubled backslash joins no lines: systemd ignores the one with `--config`, the program exits at the other."""
    text = data.manifests("legacy", "my-scheduler-2.service").read_text(encoding="utf-8")

    read = unit.read(facts.control_planes[0], mutation.input("unit", text))
    unit.assert_line_ignored(read, "--config")

    outcome = run(facts, Line(mutation.input("arguments", read.argv[1:])))
    said = expectations.BACKSLASH.answer(facts.scheduler_version)
    assert_refused(outcome, saying=said, named="a doubled backslash at a line's end does not join it")
