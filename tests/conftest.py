"""What all self-tests live under: no real engine, no real home, and fakes that record how they were called."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schedproof.settings import KNOBS

FORBIDDEN = (
    "docker", "dockerd", "containerd", "kind", "kubectl", "go", "apt-get", "dpkg",
    "mmdebstrap", "sysctl", "podman", "systemctl",
    "service",
)  # fmt: skip
"""Programs that a self-test must never really run: each is shadowed by one that fails loudly."""

GUARD = """#!{python}
import sys
print("self-tests may not reach the real " + {name!r} + ": use the fake fixture", file=sys.stderr)
sys.exit(97)
"""

FAKE = """#!{python}
import json, os, sys
with open({calls!r}, "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
argv = sys.argv[1:]
{body}
"""


class Fake:
    """A program on PATH that records its arguments and runs a few lines of Python instead."""

    def __init__(self, path: Path, calls: Path) -> None:
        self.path = path
        self._calls = calls

    @property
    def calls(self) -> list[list[str]]:
        """Arguments of every call so far, in order."""
        return [json.loads(line) for line in self._calls.read_text().splitlines()] if self._calls.exists() else []


FakeMaker = Callable[..., Fake]


@pytest.fixture(autouse=True)
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shadow forbidden programs, move home and our folders below ``tmp_path``; return the folder that leads PATH."""
    programs = tmp_path / "guarded-bin"
    programs.mkdir()
    for name in FORBIDDEN:
        _executable(programs / name, GUARD.format(python=sys.executable, name=name))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/self-tests-may-not-reach-an-engine.sock")
    for variable, folder in (
        ("HOME", "home"),
        ("SCHEDPROOF_CACHE", "cache"),
        ("SCHEDPROOF_STATE", "state"),
        ("SCHEDPROOF_ARTIFACTS", "artifacts"),
    ):
        monkeypatch.setenv(variable, str(tmp_path / folder))
        (tmp_path / folder).mkdir()
    # CI runs the self-tests with KEEP=1, and a user with whatever is exported: no knob may reach a test.
    knobs = {"KUBECONFIG", "XDG_CACHE_HOME", "XDG_STATE_HOME", "ARGS", *(knob.env for knob in KNOBS)}
    for variable in list(os.environ):
        if variable in knobs or variable.startswith("KIND_"):
            monkeypatch.delenv(variable)
    return programs


@pytest.fixture
def fake(guarded: Path, tmp_path: Path) -> FakeMaker:
    """Make a fake program: ``fake("kind", "print('kind v0.33.0')")``; ``argv`` holds its arguments."""

    def make(name: str, body: str = "") -> Fake:
        calls = tmp_path / f"{name}.calls"
        path = guarded / name
        _executable(path, FAKE.format(python=sys.executable, calls=str(calls), body=body))
        return Fake(path, calls)

    return make


def _executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
