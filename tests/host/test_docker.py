"""An engine that stops in the middle of a run is named as such, whatever was asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof.command import CommandFailed
from schedproof.errors import EngineError
from schedproof.host.docker import EngineUnreachable, docker, unreachable

DOWN = "docker: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?"


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.usefixtures("engine_up")
def test_an_engine_that_stops_mid_run_is_an_engine_error(check: bool, up: Path) -> None:
    assert docker("ps", check=check).code == 0
    up.unlink()
    with pytest.raises(EngineUnreachable, match=r"(?s)container engine.*docker ps.*Cannot connect") as failed:
        docker("ps", check=check)
    assert failed.value.why == "down"
    assert failed.value.category == "harness"


def test_what_the_engine_refuses_stays_a_failed_command(fake: Any) -> None:
    fake("docker", "print('Error: No such container: x', file=sys.stderr); sys.exit(1)")
    with pytest.raises(CommandFailed, match="No such container") as failed:
        docker("inspect", "x")
    assert not isinstance(failed.value, EngineError)
    assert docker("inspect", "x", check=False).code == 1


def test_no_docker_on_path_says_how_to_get_one(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(guarded / "nothing"))
    with pytest.raises(EngineUnreachable, match=r"(?s)no program docker on PATH.*BOOTSTRAP=1"):
        docker("ps")


@pytest.mark.parametrize(
    ("stderr", "why"),
    [
        (DOWN, "down"),
        (f"{DOWN}\n\nRun 'docker run --help' for more information", "down"),
        (f"{DOWN}.\nSee 'docker run --help'.", "down"),
        ("error during connect: Get http://x/info: EOF", "down"),
        ("failed to connect to the docker API at unix:///var/run/docker.sock; check if the path is correct", "down"),
        ("permission denied while trying to connect to the docker API at unix:///var/run/docker.sock", "denied"),
        (f"{DOWN}\npod/x created, 3 tests failed", None),
        ("Error response from daemon: No such image", None),
        ("", None),
    ],
)
def test_what_docker_says_when_it_reaches_nobody(stderr: str, why: str | None) -> None:
    assert unreachable(stderr) == why
