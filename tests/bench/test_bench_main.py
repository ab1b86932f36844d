"""``python -m bench``: what is asked for, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import costs, figures, main, page, suites
from bench.contenders import Outcome
from schedproof.errors import ExitCode, HarnessError, UsageError


def test_without_words_everything_but_cold_is_measured() -> None:
    assert main._asked([]) == main.ALL
    assert "cold" not in main.ALL


def test_unknown_word_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["latencies"]) == ExitCode.USAGE
    assert "one of latency, suites, mutants, costs, cold, page" in capsys.readouterr().err


def test_cold_removes_nothing_without_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedproof.cluster.clean.docker", _no_engine)

    with pytest.raises(HarnessError, match="--yes"):
        costs.cold(yes=False)
    assert (tmp_path / "cache").is_dir()


def _no_engine(*_: object, **__: object) -> None:
    raise HarnessError("no engine")


def test_ratio_is_theirs_to_ours_as_it_was_seen() -> None:
    seen = {
        "schedproof": [Outcome(40.0, 0, {}, ["a"] * 5), Outcome(50.0, 0, {}, ["a"] * 5)],
        "pytest-kind/session": [Outcome(81.0, 0, {}, ["a"] * 5), Outcome(81.0, 0, {}, ["a"] * 5)],
        "pytest-kubernetes/session": [Outcome(36.0, 1, {"test_b": "why"}, ["a"] * 4)] * 2,
    }

    found = suites._figures(seen, ("session",))

    assert found["pytest-kind/session"]["ratio"] == 1.8
    shown = suites.show({"claims": ["a"] * 5, "contenders": found})
    assert "1.80" in shown
    assert "0.80" in shown
    assert "! pytest-kubernetes/session was not green: {'test_b': 'why'}" in shown


def test_page_gets_the_tables_that_were_measured(tmp_path: Path) -> None:
    document = tmp_path / "bench.md"
    document.write_text(f"# Method\n\n{page.HEADING}\nold figures\n")
    figures.write("latency", {}, {}, "ms  p50\n1.0")

    page.write(document)
    once = document.read_text()
    page.write(document)

    assert once.startswith("# Method\n")
    assert "```\nms  p50\n1.0\n```" in once
    assert "old figures" not in once
    assert document.read_text() == once


def test_page_without_a_measurement_is_left_as_it_is(tmp_path: Path) -> None:
    document = tmp_path / "bench.md"
    document.write_text(page.HEADING)

    with pytest.raises(UsageError, match="measure first"):
        page.write(document)
    assert document.read_text() == page.HEADING
