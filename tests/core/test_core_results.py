"""Results: one schema, both ways; and the exit code, where the worse news wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof import results
from schedproof.errors import ExitCode, UsageError
from schedproof.results import Result, Run, exit_code


def result(outcome: Any, claim: str = "c1") -> Result:
    return Result(claim=claim, lines=["A-01"], test="t", sentence="s", outcome=outcome, seconds=1.0)


RUN = Run(started="2026-12-01T00:00:00Z", seconds=2.0, suite="s", kubernetes="v1.37.2", scheduler="i", exit_code=0)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([], ExitCode.NOTHING_PROVED),
        (["proved", "caught"], ExitCode.PROVED),
        (["proved", "skipped"], ExitCode.SKIPPED),
        (["skipped", "harness"], ExitCode.HARNESS),
        (["harness", "false"], ExitCode.CLAIM_FAILED),
        (["harness", "survived"], ExitCode.CLAIM_FAILED),
    ],
)
def test_the_worse_news_wins(outcomes: list[str], code: ExitCode) -> None:
    assert exit_code([result(outcome) for outcome in outcomes]) == code


def test_harness_trouble_outside_of_claims_and_an_interruption_count() -> None:
    assert exit_code([result("proved")], harness="no engine") == ExitCode.HARNESS
    assert exit_code([result("false")], harness="no engine") == ExitCode.CLAIM_FAILED
    assert exit_code([result("false")], interrupted=True) == ExitCode.INTERRUPTED


def test_only_a_skip_that_was_allowed_by_its_id_is_green() -> None:
    assert exit_code([result("skipped", "a")], allowed_skips=frozenset({"a"})) == ExitCode.PROVED
    assert exit_code([result("skipped", "a")], allowed_skips=frozenset({"b"})) == ExitCode.SKIPPED


def test_a_run_is_written_and_read_back() -> None:
    run = RUN.model_copy(update={"results": [result("false")]})
    assert results.read(results.write(run)) == run


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "holds the results of a run"),
        ('{"schema_version": 1}', "holds the results of a run"),
        (RUN.model_copy(update={"schema_version": 9}).model_dump_json(), "version 9"),
    ],
)
def test_what_is_no_run_of_this_schema_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(UsageError, match=words):
        results.read(tmp_path / "r.json")


def test_a_file_that_is_not_there_is_the_callers_fault(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="make e2e"):
        results.read(tmp_path / "none.json")
