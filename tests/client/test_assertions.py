"""What claims assert besides binding."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.assertions import assert_attempts
from schedproof.errors import ApiError, ClaimFailed

COUNTED = 'scheduler_schedule_attempts_total{profile="red",result="scheduled"} 2\n'


class Red:
    """A scheduler that answers."""

    name = "red"

    def __init__(self, code: int, text: str) -> None:
        self._answer = code, text

    def metrics(self) -> tuple[int, str]:
        return self._answer

    def state(self) -> str:
        return "it runs"


def test_attempts_that_are_counted_otherwise_make_the_claim_false() -> None:
    scheduler: Any = Red(200, COUNTED)
    assert_attempts(scheduler, {"scheduled": 2})
    with pytest.raises(ClaimFailed, match="is 3 scheduled"):
        assert_attempts(scheduler, {"scheduled": 3})


def test_metrics_that_are_refused_to_the_harness_say_nothing_about_the_count() -> None:
    scheduler: Any = Red(403, "no")
    with pytest.raises(ApiError, match="answers with 403"):
        assert_attempts(scheduler, {"scheduled": 2})
