"""The front door: what can be asked, how it ends, and with which words."""

from __future__ import annotations

import argparse
import os
import signal
from typing import Any

import pytest

from schedproof import __version__
from schedproof.cli import main as door
from schedproof.errors import ClaimFailed, ExitCode, HarnessError, UsageError
from schedproof.settings import KNOBS


def ends(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> int:
    def command(_: argparse.Namespace) -> int:
        if isinstance(outcome, BaseException):
            raise outcome
        if callable(outcome):
            outcome()
        return int(outcome) if isinstance(outcome, int) else 0

    monkeypatch.setattr(door, "_commands", lambda: {"doctor": ("a command", command)})
    return door.main(["doctor"])


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [
        (ExitCode.PROVED, 0, ""),
        (ExitCode.SKIPPED, 6, ""),
        (ClaimFailed("pod3 is bound"), 1, "pod3 is bound"),
        (KeyboardInterrupt(), 2, "interrupted"),
        (HarnessError("an engine answers", cure="start it"), 3, "this says nothing about the scheduler"),
        (OSError(28, "No space left on device", "/x/y"), 3, "No space left on device: '/x/y'"),
        (UsageError("SUITE is a folder", cure="choose one"), 4, "what to do:   choose one"),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, BaseException) else None,
)
def test_every_end_has_its_exit_code_and_no_traceback(
    outcome: Any, code: int, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(monkeypatch, outcome) == code
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said


def test_sigterm_ends_a_command_as_ctrl_c_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert ends(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGTERM)) == ExitCode.INTERRUPTED
    assert "interrupted" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize(
    "argv", [[], ["prove"], ["e2e", "--nodes", "2"], ["doctor", "--no-such"], ["clean", "--everything"]]
)
def test_a_wrong_command_or_option_is_the_callers_fault(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(argv) == ExitCode.USAGE
    assert "usage: schedproof" in capsys.readouterr().err


@pytest.mark.parametrize(("argv", "words"), [(["--help"], "exit codes: 0 proved"), (["--version"], __version__)])
def test_help_and_version_end_well(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(argv) == ExitCode.PROVED
    assert words in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("command", ["e2e", "mutants", "doctor"])
def test_every_knob_is_an_option_with_its_variable_in_the_help(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert door.main([command, "--help"]) == ExitCode.PROVED
    shown = capsys.readouterr().out
    assert [knob.option for knob in KNOBS if knob.option not in shown or f"${knob.env}" not in shown] == []


def test_a_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KEEP", "perhaps")
    assert door.main(["doctor"]) == ExitCode.USAGE
    assert "KEEP=perhaps" in capsys.readouterr().err
