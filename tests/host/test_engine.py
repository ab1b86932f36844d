"""The engine that answers is used as it is; else one is started or installed, after saying so."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from schedproof.errors import EngineError
from schedproof.host import engine, record
from schedproof.host.docker import EngineUnreachable
from schedproof.host.machine import Machine
from schedproof.host.probe import probe
from schedproof.progress import progress


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the user is told."""
    text = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=text, soft_wrap=True))
    return text


@pytest.fixture
def ordinary(machine: Machine) -> Machine:
    """The same machine, used by somebody who is not root."""
    return dataclasses.replace(machine, uid=1000)


def test_an_engine_that_answers_is_only_asked(chosen: Any, machine: Machine, engine_up: Any, dockerd: Any) -> None:
    found = engine.ensure_engine(chosen(), machine)
    assert (found.version, found.storage_driver, found.cgroup_version) == ("26.1.5+dfsg1", "overlay2", 1)
    assert (found.containerd_store, found.arch) == (False, "amd64")
    assert [call[0] for call in engine_up.calls] == ["info"]
    assert dockerd.calls == []
    assert record.read().empty


def test_containerds_image_store_is_told_apart(chosen: Any, machine: Machine, engine_says: Any) -> None:
    engine_says(Driver="overlayfs", DriverStatus=[["driver-type", "io.containerd.snapshotter.v1"]], CgroupVersion="2")
    found = engine.ensure_engine(chosen(), machine)
    assert found.containerd_store
    assert found.cgroup_version == 2


def test_an_old_engine_without_sys_resource_is_refused_with_a_cure(
    chosen: Any, machine: Machine, engine_says: Any
) -> None:
    engine_says(ServerVersion="20.10.24+dfsg1")
    with pytest.raises(EngineError, match=r"(?s)lacks CAP_SYS_RESOURCE.*Docker 23 or newer"):
        engine.ensure_engine(chosen(), machine)


def test_the_same_old_engine_will_do_where_root_has_all_capabilities(
    chosen: Any, machine: Machine, root: Path, engine_says: Any
) -> None:
    (root / "proc/self/status").write_text("CapBnd:\t000001ffffffffff\n")
    engine_says(ServerVersion="20.10.24+dfsg1")
    assert engine.ensure_engine(chosen(), machine).major == 20


@pytest.mark.usefixtures("engine_down")
def test_an_installed_engine_is_started_and_noted(
    chosen: Any, machine: Machine, dockerd: Any, told: io.StringIO
) -> None:
    assert engine.ensure_engine(chosen(), machine).version == "26.1.5+dfsg1"
    assert dockerd.calls == [[]]
    started = record.read().started
    assert started is not None
    assert (record.folder() / "dockerd.pid").read_text() == f"{started.pid}\n"
    assert "schedproof starts one (BOOTSTRAP=0 forbids it)" in told.getvalue()
    assert engine.ours(machine) == [f"process dockerd, pid {started.pid} (started by schedproof)"]


def test_of_two_runs_at_once_the_second_uses_what_the_first_has_started(
    chosen: Any, machine: Machine, dockerd: Any, engine_up: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([False, True])

    def down_at_first() -> engine.Engine:
        if not next(answers):
            raise EngineUnreachable("down", "before the other run had started it")
        return probe()

    monkeypatch.setattr(engine, "probe", down_at_first)
    assert engine.ensure_engine(chosen(), machine).version == "26.1.5+dfsg1"
    assert engine_up.calls == [["info", "--format", "{{json .}}"]]
    assert dockerd.calls == []
    assert record.read().empty


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_without_an_engine_one_is_announced_installed_and_started(
    chosen: Any, machine: Machine, apt_get: Any, told: io.StringIO
) -> None:
    assert engine.ensure_engine(chosen(), machine).version == "26.1.5+dfsg1"
    verbs = [next(word for word in call if word in ("update", "install")) for call in apt_get.calls]
    assert verbs == ["update", "install", "install"]
    assert apt_get.calls[2][-2:] == ["docker.io/trixie", "containerd/trixie"]
    assert "--no-install-recommends" in apt_get.calls[2]
    said = told.getvalue()
    assert "installs the packages docker.io, containerd" in said
    assert "http://mirror.example/debian" in said
    assert "schedproof-trixie.sources" in said
    assert said.index("installs the packages") < said.index("runc")
    noted = record.read()
    assert noted.packages == ["docker.io", "runc"]  # libc6 was there before: upgraded, so not ours to remove
    assert "libc6 2.36 to 2.41" in said
    assert noted.data == "var/lib/docker"


@pytest.mark.usefixtures("engine_down")
def test_bootstrap_0_forbids_to_install_one(chosen: Any, machine: Machine, apt_get: Any) -> None:
    with pytest.raises(EngineError, match=r"(?s)BOOTSTRAP=0 forbids.*install Docker by hand"):
        engine.ensure_engine(chosen(BOOTSTRAP="0"), machine, ask=lambda _: True)
    assert apt_get.calls == []


@pytest.mark.usefixtures("engine_down")
def test_bootstrap_0_forbids_to_start_one(chosen: Any, machine: Machine, dockerd: Any) -> None:
    with pytest.raises(EngineError, match=r"(?s)BOOTSTRAP=0 forbids.*start it by hand"):
        engine.ensure_engine(chosen(BOOTSTRAP="0"), machine)
    assert dockerd.calls == []


@pytest.mark.usefixtures("engine_down")
def test_who_is_not_root_is_told_what_to_install(chosen: Any, ordinary: Machine, apt_get: Any) -> None:
    with pytest.raises(EngineError, match=r"(?s)it takes root.*install Docker by hand"):
        engine.ensure_engine(chosen(BOOTSTRAP="1"), ordinary)
    assert apt_get.calls == []


@pytest.mark.parametrize("trouble", ["unknown", "full"])
@pytest.mark.usefixtures("engine_down", "apt_get")
def test_apt_failing_is_told_in_its_own_words(
    trouble: str, chosen: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APT_TROUBLE", trouble)
    words = {"unknown": "Unable to locate package docker.io", "full": "the disk is full"}[trouble]
    with pytest.raises(EngineError, match=words) as failed:
        engine.ensure_engine(chosen(), machine)
    assert "pmstatus" not in str(failed.value)


@pytest.mark.usefixtures("engine_down")
def test_a_no_on_the_terminal_changes_nothing(
    chosen: Any, machine: Machine, root: Path, apt_get: Any, told: io.StringIO
) -> None:
    asked: list[str] = []

    def no(question: str) -> bool:
        asked.append(question)
        assert "schedproof-trixie.sources" in told.getvalue(), "the announcement comes before the question"
        return False

    with pytest.raises(EngineError, match=r"(?s)the answer was no.*install Docker by hand"):
        engine.ensure_engine(chosen(), machine, ask=no)
    assert asked == ["Go on? [y/N] "]
    assert apt_get.calls == []
    assert not (root / "etc/apt/sources.list.d/schedproof-trixie.sources").exists()
    assert record.read().empty


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_a_yes_on_the_terminal_goes_ahead(chosen: Any, machine: Machine) -> None:
    assert engine.ensure_engine(chosen(), machine, ask=lambda _: True)


@pytest.mark.usefixtures("engine_down", "dockerd")
def test_bootstrap_1_does_not_ask(chosen: Any, machine: Machine) -> None:
    assert engine.ensure_engine(chosen(BOOTSTRAP="1"), machine, ask=lambda _: False)


@pytest.mark.usefixtures("engine_down")
def test_an_engine_elsewhere_is_not_replaced_by_one_here(
    chosen: Any, machine: Machine, dockerd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENDPOINT", "tcp://build-server:2376")
    with pytest.raises(EngineError, match=r"the engine at tcp://build-server:2376 answers"):
        engine.ensure_engine(chosen(), machine)
    assert dockerd.calls == []


def test_who_may_not_use_the_engine_is_told_about_the_group(
    chosen: Any, machine: Machine, fake: Any, dockerd: Any
) -> None:
    fake(
        "docker",
        "print('permission denied while trying to connect to the Docker daemon socket', file=sys.stderr); sys.exit(1)",
    )
    with pytest.raises(EngineUnreachable, match="usermod -aG docker"):
        engine.ensure_engine(chosen(), machine)
    assert dockerd.calls == []


def test_a_program_that_is_only_called_docker_is_no_engine(chosen: Any, machine: Machine, fake: Any) -> None:
    fake("docker", """print('{"host": {"arch": "amd64"}}')""")
    with pytest.raises(EngineError, match="another program is called docker"):
        engine.ensure_engine(chosen(), machine)


@pytest.mark.usefixtures("engine_down")
def test_no_apt_no_installation_but_words(chosen: Any, machine: Machine, root: Path, dockerd: Any) -> None:
    dockerd.path.unlink()
    (root / "etc/os-release").write_text('ID=fedora\nPRETTY_NAME="Fedora Linux 44"\n')
    with pytest.raises(EngineError, match=r"(?s)Fedora Linux 44: neither Debian nor Ubuntu.*docs\.docker\.com"):
        engine.ensure_engine(chosen(), machine)


@pytest.mark.usefixtures("dockerd")
def test_dockerd_without_its_command_line_is_told_apart(chosen: Any, machine: Machine, guarded: Path) -> None:
    (guarded / "docker").unlink()
    with pytest.raises(EngineError, match="install docker-cli"):
        engine.ensure_engine(chosen(), machine)
