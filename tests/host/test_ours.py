"""What we installed and started is listed and undone, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof.errors import EngineError
from schedproof.host import daemon, engine, record
from schedproof.host.machine import Machine


def _installed(machine: Machine, chosen: Any) -> Path:
    """Install and start an engine; return its folder, with something in it."""
    engine.ensure_engine(chosen(), machine)
    data = machine.path("var/lib/docker/overlay2")
    data.mkdir(parents=True)
    return data.parent


@pytest.mark.usefixtures("engine_up")
def test_nothing_is_ours_on_a_machine_with_an_engine_of_its_own(machine: Machine) -> None:
    assert engine.ours(machine) == []
    assert engine.stop_ours(machine) == []
    assert engine.remove_ours(machine) == []


@pytest.mark.usefixtures("engine_down")
def test_an_engine_that_we_installed_is_listed_and_removed_with_all_that_it_made(
    machine: Machine, root: Path, chosen: Any, apt_get: Any
) -> None:
    data = _installed(machine, chosen)
    started = record.read().started
    assert started is not None
    assert engine.ours(machine) == [
        f"process dockerd, pid {started.pid} (started by schedproof)",
        "packages docker.io runc",
        f"file {root}/etc/apt/preferences.d/schedproof-trixie",
        f"file {root}/etc/apt/sources.list.d/schedproof-trixie.sources",
        f"folder {data} (images, containers and volumes of that engine)",
    ]
    engine.remove_ours(machine)
    assert machine.process(started.pid) is None
    assert [word for word in apt_get.calls[-1] if not word.startswith("-") and "=" not in word] == [
        "purge", "docker.io", "runc"
    ]  # fmt: skip
    assert not data.exists()
    assert not any("schedproof" in path.name for path in root.rglob("*"))
    assert record.read().empty
    assert engine.ours(machine) == []


@pytest.mark.usefixtures("engine_down")
def test_images_and_volumes_that_were_there_before_stay(
    machine: Machine, root: Path, chosen: Any, apt_get: Any
) -> None:
    (root / "var/lib/docker").mkdir(parents=True)
    data = _installed(machine, chosen)
    engine.remove_ours(machine)
    assert data.exists()
    assert "purge" not in apt_get.calls[-1], "docker.io's purge script would delete the folder"
    assert "remove" in apt_get.calls[-1]


@pytest.mark.usefixtures("engine_down")
def test_images_and_volumes_stay_when_asked_to(machine: Machine, chosen: Any, apt_get: Any) -> None:
    data = _installed(machine, chosen)
    engine.remove_ours(machine, data=False)
    assert data.exists()
    assert "remove" in apt_get.calls[-1]


@pytest.mark.usefixtures("engine_down")
def test_an_engine_that_we_only_started_is_stopped_and_stays_installed(
    machine: Machine, chosen: Any, dockerd: Any
) -> None:
    engine.ensure_engine(chosen(), machine)
    started = record.read().started
    assert started is not None
    assert engine.stop_ours(machine) == [f"ended dockerd, pid {started.pid}"]
    assert machine.process(started.pid) is None
    assert dockerd.path.exists()
    assert record.read().empty


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_process_that_has_got_the_number_meanwhile_is_left_alone(machine: Machine, chosen: Any) -> None:
    engine.ensure_engine(chosen(), machine)
    noted = record.read()
    assert noted.started is not None
    noted.started.ticks += 1
    record.write(noted)
    assert engine.ours(machine) == []
    assert engine.stop_ours(machine) == []
    assert machine.process(noted.started.pid) is not None


def test_a_unit_that_we_started_is_stopped_by_systemd(machine: Machine, fake: Any) -> None:
    systemctl = fake("systemctl")
    record.write(record.Record(started=record.Started(systemd=True)))
    assert engine.ours(machine) == ["systemd unit docker (started by schedproof)"]
    engine.stop_ours(machine)
    assert systemctl.calls == [["stop", "docker.socket", "docker.service"]]


@pytest.mark.usefixtures("engine_down", "apt_get")
def test_what_could_not_be_removed_is_still_written_down(machine: Machine, chosen: Any, fake: Any) -> None:
    _installed(machine, chosen)
    fake("apt-get", "print('E: Could not get lock /var/lib/dpkg/lock-frontend', file=sys.stderr); sys.exit(100)")
    with pytest.raises(EngineError, match="another package manager holds apt's lock"):
        engine.remove_ours(machine)
    assert record.read().packages == ["docker.io", "runc"]
    assert record.read().files != []


def test_an_engine_started_by_its_own_package_is_ended_before_its_files_go(
    machine: Machine, root: Path, tmp_path: Path, dockerd: Any, fake: Any
) -> None:
    apt_get = fake("apt-get")
    child = daemon.spawn([str(dockerd.path)], tmp_path / "log")
    while (process := machine.process(child.pid)) is None or process.name != "dockerd":
        assert process is not None
    (root / daemon.PID_FILE).parent.mkdir(parents=True)
    (root / daemon.PID_FILE).write_text(f"{child.pid}\n")
    record.write(record.Record(packages=["docker.io"]))
    engine.remove_ours(machine)
    assert machine.process(child.pid) is None
    assert len(apt_get.calls) == 1


def test_mounts_of_a_killed_engine_are_undone_before_its_folder_goes(machine: Machine, root: Path, fake: Any) -> None:
    umount = fake("umount")
    data = root / "var/lib/docker"
    (data / "overlay2/x/merged").mkdir(parents=True)
    mounts = (data, data / "overlay2/x/merged", root / "var/lib/docker-of-another")
    (root / "proc/self/mountinfo").write_text("".join(f"36 35 8:1 / {mount} rw - ext4 /dev/x rw\n" for mount in mounts))
    record.write(record.Record(data="var/lib/docker"))
    engine.remove_ours(machine)
    assert umount.calls == [["--lazy", str(data / "overlay2/x/merged")], ["--lazy", str(data)]]
    assert not data.exists()
