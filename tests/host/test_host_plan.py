"""PLAN=1 says what a run would do to this machine, and does nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.host import plan, record
from schedproof.host.docker import EngineUnreachable
from schedproof.host.sight import Sight


@pytest.fixture
def down(sight: Sight) -> Sight:
    """The same machine without an engine that answers."""
    return replace(sight, engine=None, trouble=EngineUnreachable("down", "nobody answers"), registry=False)


def test_an_engine_that_answers_is_used_as_it_is(sight: Sight) -> None:
    assert plan.of(sight) == [
        "engine: Docker 26.1.5+dfsg1 answers and is used as it is",
        "origin: programs and images are downloaded",
    ]


@pytest.mark.usefixtures("engine_down")
def test_what_would_be_installed_is_told_and_nothing_done(down: Sight, root: Path, apt_get: Any) -> None:
    before = sorted(root.rglob("*"))
    told = "\n".join(plan.of(down))
    assert "asks first on a terminal" in told
    assert "installs the packages docker.io, containerd" in told
    assert "/etc/apt/sources.list.d/schedproof-trixie.sources" in told
    assert "starts dockerd as a process of its own" in told
    assert "built from source (about 25 minutes" in told
    assert sorted(root.rglob("*")) == before
    assert apt_get.calls == []
    assert record.read().empty


@pytest.mark.usefixtures("engine_down")
def test_with_systemd_the_unit_would_be_started(down: Sight, root: Path, dockerd: Any) -> None:
    (root / "run/systemd/system").mkdir(parents=True)
    assert "  - starts it: systemctl start docker" in plan.of(down)
    assert dockerd.calls == []


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_run_that_would_stop_says_so(down: Sight, chosen: Any) -> None:
    assert "would stop: BOOTSTRAP=0 forbids it" in plan.of(replace(down, settings=chosen(BOOTSTRAP="0")))[0]
    denied = replace(down, trouble=EngineUnreachable("denied", "permission denied"))
    assert plan.of(denied)[0].startswith("engine: the run would stop: permission denied")


def test_a_limit_that_would_be_raised_is_told_and_not_raised(sight: Sight, root: Path) -> None:
    limit = root / "proc/sys/fs/inotify/max_user_instances"
    limit.write_text("128\n")
    assert "kernel: fs.inotify.max_user_instances is raised from 128 to 512 until the next boot" in plan.of(sight)
    assert limit.read_text() == "128\n"


def test_with_another_ones_cluster_nothing_is_done(sight: Sight, chosen: Any, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").touch()
    told = plan.of(replace(sight, settings=chosen(EXISTING_KUBECONFIG=str(tmp_path / "kubeconfig"))))
    assert told == ["host: nothing is installed, started or changed (the cluster is another's)"]
