"""Other programs: what is shown of a failure, and that nothing of them is left at a deadline."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.command import STDERR_LINES, CommandFailed, pasteable, run

PYTHON = [sys.executable, "-IS", "-c"]


def test_output_code_and_lines_are_kept() -> None:
    heard: list[str] = []
    done = run(["sh", "-c", "echo out; echo err >&2; exit 3"], seconds=20, check=False, on_line=heard.append)
    assert (done.code, done.stdout, done.stderr, heard) == (3, "out\n", "err\n", ["err"])


def test_a_failure_shows_a_line_for_a_shell_the_code_and_the_last_lines() -> None:
    script = "for n in $(seq 40); do echo line $n >&2; done; exit 4"
    with pytest.raises(CommandFailed) as failed:
        run(["sh", "-c", script], seconds=20, cure="try again")
    assert failed.value.code == 4
    assert failed.value.category == "harness"
    assert f"sh -c {shlex.quote(script)}" in str(failed.value)
    assert "line 40" in str(failed.value)
    assert f"line {40 - STDERR_LINES}\n" not in str(failed.value)
    assert "try again" in str(failed.value)


def test_what_failed_on_standard_output_alone_is_shown_too() -> None:
    with pytest.raises(CommandFailed, match="only here"):
        run(["sh", "-c", "echo only here; exit 1"], seconds=20)


@pytest.mark.parametrize("word", ["plain", "two words", "it's", "$(date)", "", "a;b", "Ü\n"])
def test_what_is_shown_can_be_pasted(word: str) -> None:
    shown = pasteable(["printf", "%s", word])
    assert shlex.split(shown) == ["printf", "%s", word]
    assert run(["sh", "-c", shown], seconds=20).stdout == word


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandFailed, match="it could not be started") as failed:
        run(["no-such-program"], seconds=20)
    assert failed.value.code is None


def test_a_deadline_ends_the_program_and_a_child_that_ignores_sigterm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "alive"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # The child holds the FIFO open; its end is the FIFO's.
    script = f"(trap '' TERM; exec 9> {fifo}; echo up >&9; while :; do read never; done < {fifo}.never) & wait"
    os.mkfifo(f"{fifo}.never")
    never = os.open(f"{fifo}.never", os.O_RDWR)
    wait = subprocess.Popen.wait

    def deadline_when_up(process: subprocess.Popen[bytes], timeout: float | None = None) -> Any:
        if timeout == 77.0:
            select.select([reader], [], [], 20)
            raise subprocess.TimeoutExpired("sh", timeout)
        return wait(process, timeout)

    monkeypatch.setattr(subprocess.Popen, "wait", deadline_when_up)
    with pytest.raises(CommandFailed, match="did not end within 77 s and was ended"):
        run(["bash", "-c", script], seconds=77.0)
    assert os.read(reader, 10) == b"up\n"
    assert select.select([reader], [], [], 20)[0] == [reader]
    assert os.read(reader, 10) == b""
    os.close(reader)
    os.close(never)


def test_a_program_that_says_nothing_is_ended_before_its_deadline() -> None:
    with pytest.raises(CommandFailed, match="nothing was heard of it"):
        run(["tail", "-f", "/dev/null"], seconds=60, first_output=0.05)


def test_standard_input_is_text_bytes_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"file")
    given: list[str | bytes | Path] = ["text", b"bytes", tmp_path / "input"]
    assert [run(["cat"], seconds=20, stdin=each).stdout for each in given] == ["text", "bytes", "file"]
    assert run(["cat"], seconds=20).stdout == ""


def test_the_environment_is_added_to_and_undecodable_output_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "kept")
    shown = run(
        [*PYTHON, "import os; print(os.environ['HERE'], os.environ['MORE'])"], seconds=20, env={"MORE": "added"}
    )
    assert shown.stdout == "kept added\n"
    assert run(["printf", "\\377"], seconds=20).stdout == "\ufffd"
