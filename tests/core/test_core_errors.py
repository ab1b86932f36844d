"""A failure message: labelled, at most 25 lines; and each family has its category."""

from __future__ import annotations

import pytest

from schedproof.errors import (
    MESSAGE_LINES,
    ApiError,
    ClaimFailed,
    EngineError,
    HarnessError,
    Message,
    SchedproofError,
    UsageError,
    WaitTimeout,
)


def test_every_part_stands_under_its_label_and_empty_ones_are_left_out() -> None:
    error = HarnessError("it works", seen="it does not\nat all", cure="mend it")
    assert str(error).splitlines() == [
        "expected:     it works",
        "seen:         it does not",
        "              at all",
        "what to do:   mend it",
    ]


def test_a_message_has_at_most_25_lines_and_says_how_many_are_left_out() -> None:
    fits = str(Message("x", seen="\n".join(map(str, range(MESSAGE_LINES - 1))))).splitlines()
    assert len(fits) == MESSAGE_LINES
    assert fits[-1].strip() == str(MESSAGE_LINES - 2)

    long = str(Message("x", seen="\n".join(map(str, range(100))), cure="y")).splitlines()
    assert len(long) == MESSAGE_LINES
    assert long[-1].strip() == "... 78 more lines in the evidence"


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (HarnessError, "harness"), (EngineError, "harness"), (ApiError, "harness"), (UsageError, "usage"),
        (ClaimFailed, "behaviour"), (WaitTimeout, "behaviour"),
    ],
)  # fmt: skip
def test_each_family_has_its_category(error: type[SchedproofError], category: str) -> None:
    assert error("x").category == category


def test_a_false_claim_is_an_assertion_and_harness_trouble_is_none() -> None:
    assert issubclass(ClaimFailed, AssertionError)
    assert not issubclass(HarnessError, AssertionError)
