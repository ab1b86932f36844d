"""Progress: plain lines in a log when something changes, a live line on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from schedproof.progress import Steps


def steps(*, terminal: bool) -> tuple[Steps, io.StringIO]:
    told = io.StringIO()
    made = Steps()
    made.console = Console(file=told, force_terminal=terminal, width=120, soft_wrap=True, highlight=False)
    return made, told


def test_a_log_has_a_line_at_begin_and_end_and_for_what_is_said_but_not_for_notes() -> None:
    made, told = steps(terminal=False)
    with made.step("node image") as step:
        step.note("compiling x")
        step.advance(1, 2)
        step.say("a quarter is done")
    begin, said, end = told.getvalue().splitlines()
    assert (begin, said) == ("> node image", "  node image: a quarter is done")
    assert end.startswith("+ node image (done, ")


def test_a_step_that_fails_says_so_and_the_error_goes_on() -> None:
    made, told = steps(terminal=False)
    with pytest.raises(ValueError, match="broken"), made.step("kind"):
        raise ValueError("broken")
    assert told.getvalue().splitlines()[-1].startswith("! kind (failed, ")
    assert [(step.title, step.outcome) for step in made.finished] == [("kind", "failed")]


def test_a_terminal_has_a_live_line_which_goes_with_the_last_step() -> None:
    made, told = steps(terminal=True)
    with made.step("outer") as outer, made.step("inner"):
        outer.note("halfway")
        live = made._live
    assert live is not None
    assert made._live is not live
    assert "> outer" not in told.getvalue()
    assert "inner (done" in told.getvalue()


def test_brackets_are_text_and_no_markup() -> None:
    made, told = steps(terminal=False)
    made.line("[/x] [red]x[/red]")
    assert told.getvalue() == "[/x] [red]x[/red]\n"
