"""``schedproof e2e`` and ``mutants``: which pytest they become, and when they do not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.cli.main import main
from schedproof.errors import EngineError, ExitCode, HarnessError


class Become(Exception):  # noqa: N818 - stands for the process that pytest takes over
    """What the process would have become."""


@pytest.fixture(autouse=True)
def _checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout with two suites, on a machine that is fit."""
    for suite in ("documents", "shapes", "mutants"):
        (tmp_path / "checkout" / "e2e" / suite).mkdir(parents=True)
        (tmp_path / "checkout" / "e2e" / suite / "test_x.py").touch()
    (tmp_path / "checkout" / "e2e" / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")

    def become(_: str, argv: list[str]) -> int:
        raise Become(argv)

    monkeypatch.setattr("os.execv", become)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("schedproof.host.checks.require_host", lambda _: [])
    monkeypatch.setattr("schedproof.host.engine.ensure_engine", lambda _: None)


def becomes(*argv: str) -> list[str]:
    with pytest.raises(Become) as become:
        main(argv)
    command: list[str] = become.value.args[0]
    assert command[:3] == [sys.executable, "-m", "pytest"]
    return command[3:]


def test_it_becomes_pytest_on_the_suite_with_workers() -> None:
    assert becomes("e2e") == ["e2e/documents", "-n", "4", "--dist", "loadgroup"]
    assert becomes("mutants") == ["e2e/documents", "-n", "4", "--dist", "loadgroup", "--mutants"]


def test_options_are_passed_on_and_variables_are_left_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEP", "1")
    monkeypatch.setenv("WORKERS", "2")
    argv = becomes("e2e", "--suite", "shapes", "--keep", "--scheduler-image", "a b:1")
    assert argv[:5] == ["e2e/shapes", "-n", "2", "--dist", "loadgroup"]
    assert argv[5:] == ["--suite", "shapes", "--scheduler-image", "a b:1", "--keep"]


def test_args_and_what_follows_the_dashes_reach_pytest_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARGS", "-k 'one or two' -x")
    assert becomes("e2e", "--", "-vv", "--pdb")[5:] == ["-k", "one or two", "-x", "-vv", "--pdb"]


def test_all_suites_are_folders_with_tests_and_mutants_are_none() -> None:
    assert becomes("e2e", "--suite", "all")[:2] == ["e2e/documents", "e2e/shapes"]


@pytest.mark.parametrize("suite", ["nowhere", "mutants", "empty", "../e2e/documents", ""])
def test_an_unknown_suite_lists_the_folders(suite: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not suite:  # an empty word is as good as none
        assert becomes("e2e", "--suite", suite)[0] == "e2e/documents"
        return
    assert main(["e2e", "--suite", suite]) == ExitCode.USAGE
    said = capsys.readouterr().err
    assert f"SUITE={suite} is a folder of claims" in said
    assert "there are: documents, shapes" in said


@pytest.mark.parametrize("suite", ["documents", "all"])
def test_outside_of_a_checkout_it_says_so_and_runs_nothing_else(
    suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["e2e", "--suite", suite]) == ExitCode.USAGE
    assert "is this the checkout?" in capsys.readouterr().err


def test_an_unfit_machine_or_no_engine_ends_it_before_pytest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(_: object) -> None:
        raise EngineError("an engine answers", cure="start it")

    monkeypatch.setattr("schedproof.host.engine.ensure_engine", none)
    assert main(["e2e"]) == ExitCode.HARNESS
    assert "start it" in capsys.readouterr().err

    def unfit(_: object) -> None:
        raise HarnessError("this machine is fit", cure="free space")

    monkeypatch.setattr("schedproof.host.checks.require_host", unfit)
    assert main(["e2e"]) == ExitCode.HARNESS
    assert "free space" in capsys.readouterr().err


def test_a_foreign_cluster_needs_no_engine_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.touch()
    monkeypatch.setattr("schedproof.host.engine.ensure_engine", lambda _: pytest.fail("an engine was asked for"))
    assert "--existing-kubeconfig" in becomes("e2e", "--existing-kubeconfig", str(kubeconfig))


@pytest.mark.parametrize("engine", ["up", "down", "absent"])
def test_a_plan_is_told_and_nothing_is_done(
    engine: str,
    tmp_path: Path,
    fake: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    body = 'sys.exit("Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?")'
    docker = fake("docker", body if engine == "down" else "print('[]' if argv[0] == 'image' else '')")
    if engine == "absent":
        docker.path.unlink()
    monkeypatch.setattr("schedproof.host.plan.lines", lambda _: ["engine: one would be started"])
    monkeypatch.setattr("schedproof.images.engine.exists", lambda _: False if engine == "up" else docker_gone())
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    monkeypatch.setenv("PLAN", "1")
    monkeypatch.setenv("SCHEDULER_VERSION", "v1.36.3")

    assert main(["e2e"]) == ExitCode.PROVED

    shown = capsys.readouterr().out
    assert shown.startswith("plan (nothing is done):\n  touch  engine: one would be started\n")
    for words in ("make   the node image", "kind v0.33.0: path or cache or release or module", "v1.36.3", "cost"):
        assert words in shown
    assert docker.calls == []
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def docker_gone() -> bool:
    raise EngineError("an engine answers")
