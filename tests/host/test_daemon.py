"""Starting an installed engine after whatever ended it, and stopping the one that we started."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedproof.errors import EngineError
from schedproof.host import daemon, record
from schedproof.host.machine import Machine

DEAD = 4_194_304
"""No process has this number: it is the largest pid_max, and numbers stay below."""


@pytest.fixture
def stranger() -> Iterator[int]:
    """Number of a live process that is no dockerd."""
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def _pid_file(root: Path, pid: int, place: str = daemon.PID_FILE) -> Path:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{pid}")
    return path


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_pid_file_of_a_dead_dockerd_is_removed(machine: Machine, root: Path) -> None:
    stale = _pid_file(root, DEAD)
    daemon.start(machine)
    assert not stale.exists()


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_pid_file_whose_number_is_another_programs_now_is_removed(
    machine: Machine, root: Path, stranger: int
) -> None:
    stale = _pid_file(root, stranger)
    daemon.start(machine)
    assert not stale.exists()
    assert machine.process(stranger) is not None, "the other program lives on"


def test_left_overs_of_a_dead_containerd_are_removed_too(machine: Machine, root: Path) -> None:
    folder = root / "var/run/docker/containerd"
    _pid_file(root, DEAD, "var/run/docker/containerd/containerd.pid")
    (folder / "containerd.sock").touch()
    (folder / "containerd.toml").touch()
    assert len(daemon.remove_stale(machine)) == 2
    assert [path.name for path in folder.iterdir()] == ["containerd.toml"]


def test_nothing_of_a_live_daemon_is_touched(
    machine: Machine, root: Path, tmp_path: Path, dockerd: Any, fake: Any
) -> None:
    containerd = fake("containerd", "import signal; signal.pause()")
    engine = daemon.spawn([str(dockerd.path)], tmp_path / "dockerd.log")
    other = daemon.spawn([str(containerd.path)], tmp_path / "containerd.log")
    _until_named(machine, engine.pid, "dockerd")
    _until_named(machine, other.pid, "containerd")
    files = [_pid_file(root, engine.pid), _pid_file(root, other.pid, "var/run/docker/containerd/containerd.pid")]
    assert daemon.remove_stale(machine) == []
    assert all(path.exists() for path in files)


@pytest.mark.usefixtures("engine_down")
def test_a_dockerd_that_is_just_coming_up_is_waited_for_and_no_second_one_started(
    machine: Machine, root: Path, tmp_path: Path, dockerd: Any
) -> None:
    first = daemon.spawn([str(dockerd.path)], tmp_path / "dockerd.log")
    _until_named(machine, first.pid, "dockerd")
    _pid_file(root, first.pid)
    daemon.start(machine)
    assert len(dockerd.calls) == 1
    assert record.read().started is None, "another's engine is not ours to stop"


@pytest.mark.usefixtures("engine_down")
def test_a_dockerd_that_dies_at_start_is_told_with_its_last_words(machine: Machine, fake: Any) -> None:
    fake(
        "dockerd",
        """
print("level=info msg=starting")
print('failed to start daemon: unable to configure the Docker daemon with file /etc/docker/daemon.json: EOF')
sys.exit(1)
""",
    )
    with pytest.raises(EngineError, match=r"(?s)dockerd ended.*failed to start daemon.*mend that file"):
        daemon.start(machine)


@pytest.mark.usefixtures("engine_down")
def test_a_dockerd_that_never_answers_is_given_up_at_the_deadline() -> None:
    with pytest.raises(EngineError, match=r"(?s)no answer within 0 s.*still restoring"):
        daemon.wait_until_it_answers(lambda: True, lambda: "still restoring containers", seconds=0.1)


@pytest.mark.usefixtures("engine_down")
def test_with_systemd_the_unit_is_started(machine: Machine, root: Path, up: Path, dockerd: Any, fake: Any) -> None:
    (root / "run/systemd/system").mkdir(parents=True)
    systemctl = fake("systemctl", f"open({str(up)!r}, 'w').write('{{\"ServerVersion\": \"27.0.1\"}}')")
    assert daemon.start(machine).version == "27.0.1"
    assert systemctl.calls == [["start", "docker"]]
    assert dockerd.calls == []
    assert record.read().started == record.Started(systemd=True)


@pytest.mark.usefixtures("engine_down")
def test_a_unit_that_fails_is_told_with_the_journals_last_lines(machine: Machine, root: Path, fake: Any) -> None:
    (root / "run/systemd/system").mkdir(parents=True)
    fake("systemctl", "print('Job for docker.service failed.', file=sys.stderr); sys.exit(1)")
    fake("journalctl", "print('dockerd: no space left on device')")
    with pytest.raises(EngineError, match=r"(?s)Job for docker.service failed.*no space left.*free space"):
        daemon.start(machine)


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_the_log_of_the_former_daemon_is_kept(machine: Machine) -> None:
    daemon.log_file().write_text("the former one's last words")
    daemon.start(machine)
    assert daemon.log_file().with_name("dockerd.log.1").read_text() == "the former one's last words"


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_the_daemon_does_not_get_our_interruptions(machine: Machine) -> None:
    daemon.start(machine)
    started = record.read().started
    assert started is not None
    assert os.getsid(started.pid) == started.pid != os.getsid(0)


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_daemon_is_stopped_by_sigterm_and_waited_for(machine: Machine) -> None:
    daemon.start(machine)
    started = record.read().started
    assert started is not None
    process = machine.process(started.pid)
    assert process is not None
    daemon.stop(machine, process)
    assert machine.process(started.pid) is None


def test_a_daemon_that_does_not_end_is_named(
    machine: Machine, tmp_path: Path, fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready = tmp_path / "ready"
    stubborn = fake(
        "dockerd",
        f"import signal; signal.signal(15, signal.SIG_IGN); open({str(ready)!r}, 'w').close()\n"
        "while True: signal.pause()",
    )
    child = daemon.spawn([str(stubborn.path)], tmp_path / "log")
    while not ready.exists():
        assert child.poll() is None
    process = machine.process(child.pid)
    assert process is not None
    monkeypatch.setattr(daemon, "ENDS", 0.1)
    with pytest.raises(EngineError, match=rf"kill -9 {child.pid}"):
        daemon.stop(machine, process)


def _until_named(machine: Machine, pid: int, name: str) -> None:
    """Wait until the child has become its program (between fork and exec it bears our own name)."""
    while (process := machine.process(pid)) is None or process.name != name:
        assert process is not None, "it ended"
