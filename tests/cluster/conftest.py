"""The pretended engine as fixtures: on PATH as scripts, and for speed inside the test's own process."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest
from rich.console import Console

from schedproof.cluster import ready, removal
from schedproof.progress import progress
from schedproof.settings import Settings, settings

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("pretended_engine", HERE / "pretended_engine.py")
assert _spec is not None
assert _spec.loader is not None
pretended: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pretended)

SCRIPT = """#!{python} -IS
import sys
sys.path.insert(0, {here!r})
from pretended_engine import main
sys.exit(main({name!r}, {state!r}))
"""

Popen = subprocess.Popen


class InProcess:
    """Stands for Popen where a pretended program is run: it has ended before anybody asks."""

    def __init__(self, path: str, argv: Sequence[str], stdin: Any) -> None:
        self.pid = 0
        self.stdin: IO[bytes] | None = io.BytesIO() if stdin == subprocess.PIPE else None
        errors: list[str] = []
        out, self.code = "", 0
        try:
            out = pretended.run(Path(argv[0]).name, list(argv[1:]), path, errors.append, lambda: None)
        except pretended.Failed as error:
            errors.append(str(error))
            self.code = 1
        self.stdout = io.BytesIO(out.encode())
        self.stderr = io.BytesIO("\n".join(errors).encode())

    def wait(self, timeout: float) -> int:  # noqa: ARG002 - Popen's signature
        return self.code


@dataclass
class Engine:
    """The state that the pretended programs share, and where they lie."""

    state: Any
    kind: Path
    kubectl: Path

    def __getitem__(self, key: str) -> Any:
        return self.state.read()[key]

    def set(self, **values: Any) -> None:
        """Change what the programs do from now on."""
        self.state.set(**values)

    def add_cluster(self, name: str) -> None:
        """Let a cluster of three nodes exist that nobody recorded."""
        self.state.add_cluster(name, next(iter(pretended.START["images"].values())))

    @property
    def names(self) -> list[str]:
        """Names of all containers."""
        return [each["name"] for each in self["containers"]]

    def calls(self, program: str, *words: str) -> list[list[str]]:
        """Arguments of the calls of a program that begin with these words."""
        return [call[1:] for call in self["calls"] if call[0] == program and call[1 : 1 + len(words)] == list(words)]


@pytest.fixture
def engine(guarded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Engine:
    path = tmp_path / "engine.state"
    path.write_text(repr(pretended.START))
    for name in ("docker", "kind", "kubectl"):
        script = guarded / name
        script.write_text(SCRIPT.format(python=sys.executable, here=str(HERE), name=name, state=str(path)))
        script.chmod(0o755)
    found = Engine(pretended.State(str(path)), guarded / "kind", guarded / "kubectl")

    def popen(argv: Sequence[str], **more: Any) -> Any:
        # What hangs must be a process, and a test's own kubectl is a script of its own.
        if Path(argv[0]).name in ("docker", "kind") and not found["hang"]:
            return InProcess(str(path), argv, more.get("stdin"))
        return Popen(argv, **more)

    monkeypatch.setattr(subprocess, "Popen", popen)
    return found


@pytest.fixture(autouse=True)
def _nothing_to_wait_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no API server in these tests, and an engine that never lags behind."""
    monkeypatch.setattr(ready, "wait_until_nodes_ready", lambda kubeconfig, count: None)  # noqa: ARG005
    monkeypatch.setattr(removal, "SETTLE_SECONDS", 0.0)


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the run tells its reader."""
    told = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=told, soft_wrap=True))
    return told


@pytest.fixture(autouse=True)
def _work_in(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture
def chosen() -> Settings:
    return settings({}, os.environ)


@pytest.fixture
def kept() -> Settings:
    return settings({"keep": True}, os.environ)
