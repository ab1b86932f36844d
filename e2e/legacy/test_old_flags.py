"""Old flags: what the documents' command lines do today, by the image alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.deploy.causes import REPLACED_FLAGS
from schedproof.legacy import expectations
from schedproof.legacy.assertions import assert_configured, assert_flags, assert_refused
from schedproof.legacy.program import Line, run

if TYPE_CHECKING:
    from fixtures.mutation import Mutation
    from schedproof.cluster.facts import Facts
    from schedproof.legacy.expectations import Old

TODAY = ["--config", "--kubeconfig", "--leader-elect", "--bind-address", "--secure-port", "--version"]


@pytest.mark.parametrize("old", expectations.FLAGS, ids=str)
@pytest.mark.claim("old-flag", lines=["A-21", "A-32", "A-33", "B-25"])
def test_program_exits_at_a_flag_that_is_gone(facts: Facts, mutation: Mutation, old: Old) -> None:
    """The program exits at a flag of the documents' time, and the harness says what replaces it (case C2)."""
    outcome = run(facts, mutation.input("line", old.line))

    assert_refused(outcome, saying=old.answer(facts.scheduler_version), named=f"today it is {REPLACED_FLAGS[old.name]}")


@pytest.mark.parametrize("old", [flag for flag in expectations.FLAGS if flag.field], ids=str)
@pytest.mark.claim("replaced-flag", lines=["A-21", "A-25", "A-32", "A-33"])
def test_configuration_says_today_what_the_flag_said(facts: Facts, mutation: Mutation, old: Old) -> None:
    """What a flag said stands in the configuration today, in the field that the harness names (case C2)."""
    outcome = run(facts, mutation.input("line", old.today))

    assert_configured(outcome, old.field, old.value)


@pytest.mark.claim("flags-of-today", lines=["A-25"])
def test_reference_has_the_flags_of_today_and_none_of_the_old(facts: Facts, mutation: Mutation) -> None:
    """The program's own reference has the flags that are left, and none of those that are gone."""
    outcome = run(facts, mutation.input("line", Line(["--help"])))

    gone = [f"--{flag.name}" for flag in expectations.FLAGS]
    assert_flags(outcome, known=mutation.input("known", TODAY), gone=gone)
