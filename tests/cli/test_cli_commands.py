"""The smaller commands: doctor, clean, claims, test, shell."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from schedproof.cli import test as test_command
from schedproof.cli.main import main
from schedproof.cluster import clean, owner
from schedproof.errors import EngineError, ExitCode, HarnessError
from schedproof.host.checks import Check
from schedproof.host.machine import Machine
from schedproof.progress import progress


class TestDoctor:
    """One line a check, a cure where one is needed."""

    @pytest.mark.parametrize(("state", "code"), [("ok", 0), ("mended", 0), ("warning", 0), ("bad", 3)])
    def test_a_bad_finding_alone_makes_it_end_with_3(
        self, state: Any, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        checks = [Check("cpus", "ok", "2"), Check("disk", state, "in [/red] 1 GiB [free]", "free space")]
        monkeypatch.setattr("schedproof.host.checks.check_host", lambda _: checks)
        assert main(["doctor"]) == code
        first, second, *cure = capsys.readouterr().out.splitlines()
        assert first.split() == ["ok", "cpus", "2"]
        assert second.split(maxsplit=2) == [state, "disk", "in [/red] 1 GiB [free]"]
        assert first.index("cpus") == second.index("disk")
        assert [line.strip() for line in cure] == (["-> free space"] if state in ("warning", "bad") else [])


class TestClean:
    """List, then remove; the state folder, by which the rest is known, last."""

    @pytest.fixture
    def removed(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        done: list[str] = []

        def item(kind: str, name: str) -> clean.Item:
            return clean.Item(kind, name, "1.0GB", lambda: done.append(name))

        found = [item("cluster", "schedproof-1"), item("network", "kind"), item("image", "schedproof/node:v1"),
                 item("folder", "/state [x]")]  # fmt: skip
        monkeypatch.setattr(clean, "items", lambda: found)
        monkeypatch.setattr("schedproof.host.engine.ours", lambda: ["packages docker.io"])
        monkeypatch.setattr("schedproof.host.engine.remove_ours", lambda: done.append("engine"))
        return done

    def test_everything_is_listed_and_removed_in_order(
        self, removed: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["clean"]) == ExitCode.PROVED
        assert removed == ["schedproof-1", "kind", "schedproof/node:v1", "engine", "/state [x]"]
        shown = capsys.readouterr().out
        assert "cluster  schedproof-1  1.0GB" in shown
        assert "folder   /state [x]" in shown
        assert "engine   packages docker.io" in shown

    def test_list_removes_nothing(self, removed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["clean", "--list"]) == ExitCode.PROVED
        assert removed == []
        assert "schedproof-1" in capsys.readouterr().out

    def test_clusters_leaves_images_folders_and_engine(self, removed: list[str]) -> None:
        assert main(["clean", "--clusters"]) == ExitCode.PROVED
        assert removed == ["schedproof-1", "kind"]

    def test_a_fault_is_told_and_the_rest_is_removed_all_the_same(
        self, removed: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def refuses() -> None:
            raise EngineError("apt-get purge succeeds", seen="dpkg is locked")

        monkeypatch.setattr("schedproof.host.engine.remove_ours", refuses)
        assert main(["clean"]) == ExitCode.HARNESS
        assert removed[-1] == "/state [x]"
        assert "dpkg is locked" in capsys.readouterr().out

    @pytest.mark.parametrize("data", [True, False])
    def test_clusters_of_an_engine_that_was_down_are_forgotten_with_its_data(
        self, removed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, data: bool
    ) -> None:
        ownership = owner.take("schedproof-left")
        assert ownership is not None
        ownership.write(owner.Record("schedproof-left", "ready", False, 1, "node:1", "sha256:1", "hash", 3, "kind"))  # noqa: FBT003
        ownership.release()
        (tmp_path / "var" / "lib" / ("docker" if data else "other")).mkdir(parents=True)
        monkeypatch.setattr("schedproof.cli.clean.Machine", lambda: Machine(root=tmp_path))
        assert main(["clean"]) == ExitCode.PROVED
        assert [record.name for record in owner.records()] == (["schedproof-left"] if data else [])
        assert removed[-1] == "/state [x]"

    def test_nothing_of_ours_says_so(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        monkeypatch.setattr(clean, "items", list)
        monkeypatch.setattr("schedproof.host.engine.ours", list)
        assert main(["clean"]) == ExitCode.PROVED
        assert "nothing of schedproof's is here" in capsys.readouterr().out


class TestClaims:
    """docs/claims.md is generated."""

    @pytest.fixture
    def page(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr("schedproof.cli.claims.CHECKOUT", tmp_path)
        monkeypatch.setattr("schedproof.report.claims.render", lambda _: "new\n")
        monkeypatch.setattr("schedproof.report.claims.uncovered", lambda _: [])
        (tmp_path / "docs").mkdir()
        return tmp_path / "docs" / "claims.md"

    def test_the_page_is_written(self, page: Path) -> None:
        assert main(["claims"]) == ExitCode.PROVED
        assert page.read_text() == "new\n"
        assert main(["claims", "--check"]) == ExitCode.PROVED

    def test_a_line_that_is_left_out_is_told_and_fails(self, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        told: list[str] = []
        monkeypatch.setattr("schedproof.cli.claims.progress.line", told.append)
        monkeypatch.setattr("schedproof.report.claims.uncovered", lambda _: ["line A-99 has neither"])
        assert main(["claims"]) == ExitCode.CLAIM_FAILED
        assert page.read_text() == "new\n"
        assert told == ["! docs/documents.md: line A-99 has neither"]

    @pytest.mark.parametrize("there", [True, False])
    def test_check_fails_on_an_old_or_missing_page_and_writes_nothing(self, page: Path, *, there: bool) -> None:
        if there:
            page.write_text("old\n")
        assert main(["claims", "--check"]) == ExitCode.CLAIM_FAILED
        assert not there or page.read_text() == "old\n"
        assert page.exists() == there


class TestTest:
    """Checks and self-tests side by side."""

    @pytest.fixture
    def environment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
        """Pretend a virtual environment whose programs note their arguments and end with the given codes."""
        programs = tmp_path / "venv" / "bin"
        programs.mkdir(parents=True)
        monkeypatch.setattr(sys, "executable", str(programs / "python"))
        monkeypatch.setattr(test_command, "CHECKOUT", tmp_path)

        def make(**codes: int) -> Path:
            for name in ("python", *{argv[0] for argv in test_command.CHECKS}):
                program = programs / name
                program.write_text(
                    f'#!/bin/sh\necho {name} "$@" >> {tmp_path}/calls\necho words of {name}\n'
                    f"exit {codes.get(name, 0)}\n"
                )
                program.chmod(0o755)
            return tmp_path / "calls"

        return make

    def test_all_of_them_run(self, environment: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("ARGS", "-k 'a b'")
        calls = environment()
        assert main(["test", "--", "-x"]) == ExitCode.PROVED
        made = sorted(calls.read_text().splitlines())
        assert made == sorted(
            [*(" ".join(argv) for argv in test_command.CHECKS), "python -m pytest tests -n 2 -q -k a b -x"]
        )

    @pytest.mark.parametrize("broken", ["python", "mypy"])
    def test_one_that_fails_makes_it_end_with_1(
        self,
        broken: str,
        environment: Callable[..., Path],
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        told = io.StringIO()
        monkeypatch.setattr(progress, "console", Console(file=told))
        environment(**{broken: 1})
        assert main(["test"]) == ExitCode.CLAIM_FAILED
        said = capfd.readouterr().out + told.getvalue()
        assert f"words of {broken}" in said
        assert "words of ruff" not in said

    def test_an_environment_without_the_programs_is_named(
        self, environment: Callable[..., Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        (environment().parent / "venv" / "bin" / "codespell").unlink()
        assert main(["test"]) == ExitCode.USAGE
        assert "missing: codespell" in capsys.readouterr().err


class TestShell:
    """A shell on the kept cluster that was used last."""

    def _keep(self, name: str, age: int) -> None:
        ownership = owner.take(name)
        assert ownership is not None
        record = ownership.write(owner.Record(name, "ready", True, 1, "node:1", "sha256:1", "hash", 3, "kind"))  # noqa: FBT003
        record.folder.mkdir()
        os.utime(record.folder, (1000 - age, 1000 - age))
        ownership.release()

    def test_without_a_kept_cluster_it_says_how_to_make_one(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["shell"]) == ExitCode.USAGE
        assert "make e2e KEEP=1" in capsys.readouterr().err

    def test_it_becomes_the_users_shell_with_kubectl_and_kubeconfig(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._keep("schedproof-new", 0)
        self._keep("schedproof-old", 9)
        became: list[Any] = []

        def become(*given: Any) -> int:
            became.extend(given)
            return 0

        monkeypatch.setenv("SHELL", "/bin/fish")
        monkeypatch.setattr("schedproof.images.node.kubernetes_of", lambda _: "v1.37.2")
        monkeypatch.setattr("schedproof.programs.ensure", lambda *_: {"kubectl": Path("/programs/kubectl")})
        monkeypatch.setattr("os.execvpe", become)
        assert main(["shell"]) == 0
        program, argv, environment = became
        assert (program, argv) == ("/bin/fish", ["/bin/fish"])
        assert environment["KUBECONFIG"] == str(owner.folder("schedproof-new") / "kubeconfig")
        assert environment["PATH"].startswith("/programs:")

    def test_an_engine_that_is_down_is_a_harness_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._keep("schedproof-new", 0)

        def down(_: str) -> str:
            raise HarnessError("the engine answers")

        monkeypatch.setattr("schedproof.images.node.kubernetes_of", down)
        assert main(["shell"]) == ExitCode.HARNESS
