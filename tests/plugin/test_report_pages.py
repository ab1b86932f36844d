"""Table, JUnit and docs/claims.md, from the results alone."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from schedproof.errors import UsageError
from schedproof.report import claims, junit, table
from schedproof.results import Outcome, Result, Run


def _result(claim: str, outcome: Outcome, **fields: object) -> Result:
    given = {"lines": [], "test": claim, "sentence": claim, "seconds": 4.06, **fields}
    return Result.model_validate({"claim": claim, "outcome": outcome, **given})


def _run(*results: Result, **fields: object) -> Run:
    given = {"started": "2026-12-01T00:00:00Z", "seconds": 60.0, "suite": "documents", "kubernetes": "v1.37.2"}
    return Run.model_validate({**given, "scheduler": "image:1", "exit_code": 0, "results": list(results), **fields})


def _text(run: Run, busy: float = 0.0) -> str:
    return "\n".join("".join(text for text, _ in line) for line in table.render(run, busy=busy))


def test_table_has_a_row_for_each_claim_and_fits_100_columns() -> None:
    run = _run(
        _result("pod3-bound", "proved", binder="default-scheduler, my-scheduler-1a2b3c, my-scheduler-4d5e6f"),
        _result("a" * 90, "false", binder="b" * 90),
        _result("skipped-one", "skipped", message="no audit\nlog " * 30),
        _result("pod3-bound", "caught", mutant="m" * 80),
        not_run=["x" * 200],
        prepare_seconds=20.0,
        claims_seconds=30.0,
    )
    text = _text(run, busy=20.0)
    assert max(len(line) for line in text.splitlines()) <= table.WIDTH
    assert re.search(r"^proved    pod3-bound +4\.1 s  default-scheduler, my-scheduler$", text, re.MULTILINE)
    assert "1 claims proved, 1 false, 0 harness, 1 skipped, 1 not run" in text
    assert "20.0 s until the cluster was ready, 30.0 s claims, 10.0 s clean-up" in text


def test_share_of_waiting_for_nothing_counts_idle_workers() -> None:
    run = _run(workers=2, seconds=100.0, prepare_seconds=40.0, claims_seconds=50.0)
    assert "25% of the wall time waiting for nothing" in table.times(run, busy=50.0)


def test_same_columns_with_and_without_colours() -> None:
    line = table.live(_result("one", "harness"))
    assert line[0] == ("harness  ", table.DOUBTFUL)


def test_junit_is_well_formed_whatever_the_message() -> None:
    run = _run(_result("one", "false", message="<b>\x1b[31m & \x00"), harness="kind died")
    root = ElementTree.fromstring(junit.render(run).split("\n", 1)[1])  # noqa: S314 - we wrote it
    suite = next(root.iter("testsuite"))
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "2",
        "failures": "1",
        "errors": "1",
    }


def _checkout(top: Path, *, lines: str = '"A-01"') -> None:
    for path, text in {
        "docs/documents.md": "| A-01 | A cluster. | True. |\n| A-02 | A | pipe. | True. |\n| A-03 | More. | True. |\n",
        "e2e/documents/test_a.py": (
            f'import pytest\n@pytest.mark.claim("one", lines=[{lines}])\ndef test_one_is_so():\n    """One is so."""\n'
            '@pytest.mark.claim("two")\ndef test_two():\n    pass\n'
        ),
        "e2e/mutants/documents/a.py": (
            "from schedproof.mutants import mutant\n"
            '@mutant(claim="one", input="pod", fault="N1", expect="no | one")\ndef broken(pod):\n    pass\n'
        ),
    }.items():
        (top / path).parent.mkdir(parents=True, exist_ok=True)
        (top / path).write_text(text)


def test_claims_page_goes_from_line_to_claim_to_mutant(tmp_path: Path) -> None:
    _checkout(tmp_path)
    page = claims.render(tmp_path)
    assert "| A-01 | A cluster. | `one` | `broken` |" in page
    assert "| - | own claim, in no document | `two` | **none** |" in page
    assert "| `one` | One is so. |" in page
    assert "no \\| one" in page
    assert "1 of 3 lines have a claim, 0 a reason why they have none." in page
    assert "Without either so far: A-02, A-03." in page


def test_claims_page_shows_why_a_line_has_no_claim_and_coverage_tells_what_is_left_out(tmp_path: Path) -> None:
    _checkout(tmp_path)
    documents = tmp_path / "docs" / "documents.md"
    without = "| A-01 | Not here. |\n| A-02 | The world outside. |\n| A-07 | Nowhere. |\n"
    documents.write_text(f"{documents.read_text()}\n## Lines without a claim\n\n{without}")
    page = claims.render(tmp_path)
    assert "| A-02 | A | The world outside. |" in page
    assert "Without either so far: A-03." in page
    assert claims.uncovered(tmp_path) == [
        "line A-03 has neither a claim nor a reason",
        "line A-01 has a claim: its reason for having none is out of date",
        "there is a reason for A-07, which is no line",
    ]


def test_claims_page_shows_the_verdicts_of_a_run(tmp_path: Path) -> None:
    _checkout(tmp_path)
    page = claims.render(tmp_path, _run(_result("one", "proved"), _result("one", "caught", mutant="broken")))
    assert "`one` (proved) | `broken` (caught) |" in page


def test_claims_page_is_refused_for_a_line_that_does_not_exist(tmp_path: Path) -> None:
    _checkout(tmp_path, lines='"A-09"')
    with pytest.raises(UsageError, match=r"e2e/documents/test_a.py:3: there is no line 'A-09'"):
        claims.render(tmp_path)
