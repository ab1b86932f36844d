"""``python -m bench``: what is asked for, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import costs, main, suites
from bench.contenders import Outcome
from schedproof.errors import ExitCode, HarnessError


def test_without_words_everything_but_cold_is_measured() -> None:
    assert main._asked([]) == main.ALL
    assert "cold" not in main.ALL


def test_unknown_word_is_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["latencies"]) == ExitCode.USAGE
    assert "one of latency, suites, mutants, costs, cold" in capsys.readouterr().err


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

    figures = suites._figures(seen, ("session",))

    assert figures["pytest-kind/session"]["ratio"] == 1.8
    shown = suites.show({"claims": ["a"] * 5, "contenders": figures})
    assert "1.80" in shown
    assert "0.80" in shown
    assert "! pytest-kubernetes/session was not green: {'test_b': 'why'}" in shown
