"""Each check over facts that are right, and over each kind of fact that is wrong."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.errors import EngineError, HarnessError
from schedproof.host import checks, engine_checks, machine_checks, program_checks
from schedproof.host import sight as sights
from schedproof.host.checks import Check
from schedproof.host.docker import EngineUnreachable
from schedproof.host.machine import Machine
from schedproof.host.sight import Sight

GIB = 1 << 30


@pytest.fixture
def programs(fake: Any) -> None:
    """The programs that checks ask, as they are on a good machine."""
    fake("kind", "print('kind v0.33.0 go1.26.8 linux/amd64')")
    fake("go", "print('go version go1.26.8 linux/amd64')")


def _by_name(found: list[Check]) -> dict[str, Check]:
    return {check.name: check for check in found}


def _engine(sight: Sight, **changes: Any) -> Sight:
    assert sight.engine is not None
    return replace(sight, engine=replace(sight.engine, **changes))


def _machine(sight: Sight, **changes: Any) -> Sight:
    return replace(sight, machine=replace(sight.machine, **changes))


def _down(sight: Sight, why: Any = "down") -> Sight:
    return replace(sight, engine=None, trouble=EngineUnreachable(why, "seen"), registry=False)


@pytest.mark.usefixtures("programs", "engine_up")
def test_on_a_good_machine_everything_is_ok(sight: Sight) -> None:
    found = checks.judge(sight)
    assert [check for check in found if check.state != "ok"] == []
    assert len(found) == len(checks.CHECKS)
    assert all(check.seen and "\n" not in check.seen for check in found)


@pytest.mark.usefixtures("programs")
def test_with_another_ones_cluster_the_engine_does_not_matter(sight: Sight, chosen: Any, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").touch()
    theirs = replace(_down(sight), settings=chosen(EXISTING_KUBECONFIG=str(tmp_path / "kubeconfig"), BOOTSTRAP="0"))
    found = _by_name(checks.judge(theirs))
    assert not {"engine", "kind", "inotify"} & set(found)
    assert {"python", "proxies"} <= set(found)


class TestEngine:
    """What is said about the engine."""

    @pytest.mark.usefixtures("engine_down", "apt_get")
    def test_one_that_can_be_installed_is_a_warning(self, sight: Sight) -> None:
        found = engine_checks.answers(_down(sight))
        assert found.state == "warning"
        assert "installed and started" in found.cure

    @pytest.mark.usefixtures("engine_down", "dockerd")
    def test_one_that_only_has_to_be_started_is_a_warning(self, sight: Sight) -> None:
        found = engine_checks.answers(_down(sight))
        assert found.state == "warning"
        assert "is installed and does not run" in found.seen

    @pytest.mark.usefixtures("engine_down", "apt_get")
    def test_one_that_may_not_be_installed_is_bad(self, sight: Sight, chosen: Any) -> None:
        assert engine_checks.answers(replace(_down(sight), settings=chosen(BOOTSTRAP="0"))).state == "bad"
        assert engine_checks.answers(_machine(_down(sight), uid=1000)).state == "bad"

    def test_one_that_is_silent_may_only_be_busy(self, sight: Sight) -> None:
        assert engine_checks.answers(_down(sight, "silent")).state == "warning"

    def test_one_that_may_not_be_used_is_bad_with_the_group_as_cure(self, sight: Sight) -> None:
        found = engine_checks.user(_down(sight, "denied"))
        assert found.state == "bad"
        assert "usermod -aG docker" in found.cure

    def test_podman_is_bad(self, sight: Sight) -> None:
        trouble = EngineError("the docker command line speaks to a Docker engine", seen="podman", cure="install Docker")
        found = engine_checks.answers(replace(sight, engine=None, trouble=trouble))
        assert (found.state, found.cure) == ("bad", "install Docker")

    def test_an_old_one_on_a_cut_down_machine_is_bad(self, sight: Sight) -> None:
        found = engine_checks.privileged_containers(_engine(sight, version="20.10.24+dfsg1"))
        assert found.state == "bad"
        assert "CAP_SYS_RESOURCE" in found.seen
        assert "Docker 23 or newer" in found.cure

    def test_a_rootless_one_on_cgroup_v1_is_bad(self, sight: Sight) -> None:
        assert engine_checks.privileged_containers(_engine(sight, rootless=True)).state == "bad"
        assert engine_checks.privileged_containers(_engine(sight, rootless=True, cgroup_version=2)).state == "ok"

    def test_the_image_store_is_named(self, sight: Sight) -> None:
        assert engine_checks.image_store(sight).seen == "overlay2"
        assert "one platform" in engine_checks.image_store(_engine(sight, containerd_store=True)).seen
        assert engine_checks.image_store(_engine(sight, storage_driver="vfs")).state == "warning"

    def test_the_cgroup_version_is_named(self, sight: Sight) -> None:
        assert "failCgroupV1: false" in engine_checks.cgroups(sight).seen
        assert engine_checks.cgroups(_engine(sight, cgroup_version=2)).seen == "v2"
        assert engine_checks.cgroups(_down(sight)).seen.startswith("v1"), "no engine yet: the machine's own"

    @pytest.mark.parametrize(("reach", "warm", "words"), [
        (True, False, "can be pulled"), (False, True, "earlier run"), (False, False, "25 min"), (None, False, "mirror"),
    ])  # fmt: skip
    def test_it_is_said_where_images_come_from(self, reach: Any, warm: bool, words: str, sight: Sight) -> None:
        assert words in engine_checks.registry(replace(sight, registry=reach, warm=warm)).seen


class TestLeftovers:
    """Clusters of ended runs."""

    @pytest.fixture
    def _clusters(self, fake: Any) -> None:
        fake("docker", "print('schedproof-kept\\nschedproof-kept\\nschedproof-left\\nsomebodys')")

    def _record(self, name: str, **changes: Any) -> Any:
        from schedproof.cluster import owner

        usual = owner.Record(name, "ready", False, 1, "node", "sha256:1", "hash", 3, "kind")  # noqa: FBT003
        record = replace(usual, **changes)
        ownership = owner.take(name)
        assert ownership is not None
        ownership.write(record)
        return ownership

    @pytest.mark.usefixtures("_clusters")
    def test_those_of_an_ended_run_are_told_from_kept_ones_and_from_other_peoples(self, sight: Sight) -> None:
        self._record("schedproof-kept", keep=True).release()
        self._record("schedproof-left").release()
        found = engine_checks.leftovers(sight)
        assert found.state == "warning"
        assert "of an ended run: schedproof-left" in found.seen
        assert "kept: schedproof-kept" in found.seen
        assert "1 kind cluster(s) of others" in found.seen

    @pytest.mark.usefixtures("_clusters")
    def test_that_of_a_live_run_is_no_left_over(self, sight: Sight) -> None:
        self._record("schedproof-kept", keep=True).release()
        holder = self._record("schedproof-left")
        assert engine_checks.leftovers(sight).state == "ok"
        holder.release()

    @pytest.mark.usefixtures("_clusters")
    def test_those_that_lost_their_record_with_the_state_folder_are_named_with_what_removes_them(
        self, sight: Sight
    ) -> None:
        self._record("schedproof-left").release()
        found = engine_checks.leftovers(sight)
        assert found.state == "warning"
        assert "without a record: schedproof-kept; 1 kind cluster(s) of others" in found.seen
        assert "label=io.x-k8s.kind.cluster=schedproof-kept" in found.cure


class TestMachine:
    """What is said about the machine."""

    def test_other_architectures_are_bad(self, sight: Sight) -> None:
        assert machine_checks.architecture(_machine(sight, architecture="riscv64")).state == "bad"
        assert machine_checks.architecture(_machine(_engine(sight, arch="arm64"), architecture="aarch64")).state == "ok"
        assert machine_checks.architecture(_engine(sight, arch="arm64")).state == "bad", "the engine is another machine"

    def test_one_processor_is_a_warning(self, sight: Sight) -> None:
        assert machine_checks.cpus(_engine(sight, cpus=1)).state == "warning"
        assert machine_checks.cpus(_machine(_down(sight), cpus=4)).seen == "4"

    @pytest.mark.parametrize(("free", "state"), [(5, "ok"), (3, "warning"), (1, "bad")])
    def test_little_memory_is_a_warning_and_very_little_is_bad(
        self, free: int, state: str, sight: Sight, root: Path
    ) -> None:
        (root / "proc/meminfo").write_text(f"MemAvailable: {free * GIB // 1024} kB\n")
        assert machine_checks.memory(sight).state == state

    @pytest.mark.parametrize(("free", "builds", "state"), [
        (20, True, "ok"), (10, True, "warning"), (5, True, "bad"), (5, False, "ok"), (0, False, "bad"),
    ])  # fmt: skip
    def test_a_build_needs_more_disk(
        self, free: int, builds: bool, state: str, sight: Sight, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Machine, "free", lambda *_: free * GIB)
        assert machine_checks.cache_disk(replace(sight, registry=not builds)).state == state

    def test_a_full_engine_disk_is_bad(self, sight: Sight, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "var/lib/docker").mkdir(parents=True)
        monkeypatch.setattr(Machine, "free", lambda *_: GIB)
        found = machine_checks.engine_disk(sight)
        assert found.state == "bad"
        assert "docker system prune" in found.cure

    def test_an_engines_disk_elsewhere_is_not_judged(self, sight: Sight) -> None:
        assert "cannot be seen from here" in machine_checks.engine_disk(_engine(sight, root="/vm/docker")).seen

    def test_root_mends_small_inotify_limits(self, sight: Sight, root: Path) -> None:
        limit = root / "proc/sys/fs/inotify/max_user_instances"
        limit.write_text("128\n")
        found = machine_checks.inotify(replace(sight, mend=True))
        assert (found.state, limit.read_text()) == ("mended", "512\n")
        assert "max_user_instances 128 -> 512" in found.seen
        assert machine_checks.inotify(sight).state == "ok"

    def test_nothing_is_mended_when_only_asked(self, sight: Sight, root: Path) -> None:
        limit = root / "proc/sys/fs/inotify/max_user_instances"
        limit.write_text("128\n")
        assert machine_checks.inotify(sight).state == "warning"
        assert limit.read_text() == "128\n"

    def test_who_is_not_root_gets_the_command(self, sight: Sight, root: Path) -> None:
        (root / "proc/sys/fs/inotify/max_user_instances").write_text("128\n")
        found = machine_checks.inotify(_machine(replace(sight, mend=True), uid=1000))
        assert found.state == "warning"
        assert found.cure == "sudo sysctl -w fs.inotify.max_user_instances=512"

    def test_a_container_cannot_raise_them(self, sight: Sight, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "proc/sys/fs/inotify/max_user_instances").write_text("128\n")

        def read_only(*_: Any, **__: Any) -> None:
            raise OSError(30, "Read-only file system")

        monkeypatch.setattr(Path, "write_text", read_only)
        found = machine_checks.inotify(replace(sight, mend=True))
        assert found.state == "warning"
        assert "Read-only file system" in found.seen
        assert "on the machine outside" in found.cure

    @pytest.mark.parametrize(("no_proxy", "state"), [
        ("", "warning"), ("localhost", "warning"), ("*", "ok"), ("localhost,127.0.0.1", "ok"), ("127.0.0.0/8", "ok"),
    ])  # fmt: skip
    def test_a_proxy_must_not_stand_before_the_cluster(self, no_proxy: str, state: str, sight: Sight) -> None:
        proxied = _machine(sight, environ={"HTTPS_PROXY": "http://me:secret@proxy.example:3128", "no_proxy": no_proxy})
        found = machine_checks.proxies(proxied)
        assert found.state == state
        assert "proxy.example" in found.seen
        assert "secret" not in found.seen


class TestPrograms:
    """What is said about programs."""

    def test_an_old_kind_is_passed_over(self, sight: Sight, fake: Any) -> None:
        fake("kind", "print('kind v0.17.0 go1.19.2 linux/amd64')")
        found = program_checks.kind(sight)
        assert found.state == "ok"
        assert "0.17.0 on PATH is older than v0.33.0" in found.seen

    def test_an_old_kind_that_is_forced_is_bad(self, sight: Sight, chosen: Any, fake: Any) -> None:
        fake("kind", "print('kind v0.17.0 go1.19.2 linux/amd64')")
        assert program_checks.kind(replace(sight, settings=chosen(PROVIDERS="kind=path"))).state == "bad"

    def test_no_kind_is_fine_unless_it_is_forced(self, sight: Sight, chosen: Any, guarded: Path) -> None:
        (guarded / "kind").unlink()
        assert program_checks.kind(sight).state == "ok"
        assert program_checks.kind(replace(sight, settings=chosen(PROVIDERS="kind=path"))).state == "bad"

    def test_no_go_is_bad_only_when_something_is_built(self, sight: Sight, guarded: Path) -> None:
        (guarded / "go").unlink()
        assert program_checks.go(sight).state == "ok"
        found = program_checks.go(replace(sight, registry=False))
        assert found.state == "bad"
        assert "install Go 1.26" in found.cure
        assert program_checks.go(replace(sight, registry=False, warm=True)).state == "ok"

    @pytest.mark.parametrize(
        ("version", "state"), [("1.26.0", "ok"), ("1.27rc1", "ok"), ("1.22.3", "warning"), ("1.19", "bad")]
    )
    def test_an_old_go_may_fetch_a_newer_one(self, version: str, state: str, sight: Sight, fake: Any) -> None:
        fake("go", f"print('go version go{version} linux/amd64')")
        assert program_checks.go(replace(sight, registry=False)).state == state

    def test_a_go_that_does_not_answer_counts_as_none(self, sight: Sight, fake: Any) -> None:
        fake("go", "sys.exit('Segmentation fault')")
        assert program_checks.go(replace(sight, registry=False)).state == "bad"

    def test_this_python_will_do(self, sight: Sight) -> None:
        assert program_checks.python(sight).state == "ok"


class TestAll:
    """The table as a whole."""

    @pytest.fixture(autouse=True)
    def _no_registry(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise ConnectionRefusedError

        monkeypatch.setattr(socket, "create_connection", refuse)

    @pytest.mark.usefixtures("programs", "engine_up")
    def test_a_good_machine_passes(self, chosen: Any, machine: Machine) -> None:
        assert all(check.state == "ok" for check in checks.require_host(chosen(PROVIDERS="node-image=pull"), machine))

    @pytest.mark.usefixtures("programs", "engine_down", "dockerd")
    def test_every_bad_finding_is_told_with_its_cure_at_once(self, chosen: Any, machine: Machine, root: Path) -> None:
        (root / "proc/meminfo").write_text("MemAvailable: 1000 kB\n")
        with pytest.raises(
            HarnessError, match=r"(?s)engine: .*BOOTSTRAP=0.*memory: .*start Docker by hand.*add memory"
        ):
            checks.require_host(chosen(BOOTSTRAP="0"), machine)

    @pytest.mark.usefixtures("programs", "engine_down", "dockerd")
    def test_an_engine_that_can_be_started_does_not_stop_a_run(self, chosen: Any, machine: Machine) -> None:
        found = _by_name(checks.require_host(chosen(), machine))
        assert found["engine"].state == "warning"

    def test_a_check_that_stumbles_has_found_something(self, sight: Sight, monkeypatch: pytest.MonkeyPatch) -> None:
        def stumble(_: Sight) -> Any:
            raise EngineUnreachable("down", "it ended just now")

        monkeypatch.setattr(checks, "CHECKS", (("left-overs", "always", stumble),))
        found = checks.judge(sight)
        assert found[0].state == "bad"
        assert "it ended just now" in found[0].seen

    def test_a_check_that_hangs_holds_nobody_up(self, sight: Sight, monkeypatch: pytest.MonkeyPatch) -> None:
        never = threading.Event()
        monkeypatch.setattr(checks, "CHECKS", (("hangs", "always", lambda _: never.wait()),))
        monkeypatch.setattr(checks, "ALL", 0.05)
        assert checks.judge(sight) == [
            Check("hangs", "warning", "no answer within 0.05 s", "the machine is very busy, or a program hangs")
        ]
        never.set()

    def test_an_engine_that_hangs_counts_as_silent(
        self, chosen: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        never = threading.Event()
        monkeypatch.setattr(sights, "probe", lambda _: never.wait())
        monkeypatch.setattr(sights, "ANSWER", 0.05)
        seen = sights.look(chosen(), machine)
        assert isinstance(seen.trouble, EngineUnreachable)
        assert seen.trouble.why == "silent"
        never.set()

    def test_no_registry_behind_a_mirror_is_not_known(self, chosen: Any, machine: Machine, engine_says: Any) -> None:
        engine_says(RegistryConfig={"Mirrors": ["https://mirror.example/"]})
        assert sights.look(chosen(), machine).registry is None

    @pytest.mark.usefixtures("engine_up")
    def test_without_a_registry_and_without_an_earlier_run_all_is_built(self, chosen: Any, machine: Machine) -> None:
        assert sights.look(chosen(), machine).builds

    def test_what_an_earlier_run_left_is_not_built_again(self, chosen: Any, machine: Machine, fake: Any) -> None:
        from schedproof import folders

        fake(
            "docker",
            f"""
if argv[0] == "info": print({'{"ServerVersion": "27.0"}'!r})
elif argv[0] == "image": print("sha256:1"); sys.exit(1)  # one of several is there
""",
        )
        assert sights.look(chosen(), machine).builds
        shelf = folders.cache() / "programs/kubernetes/v1.37.2"
        shelf.mkdir(parents=True)
        (shelf / "kube-scheduler").touch()
        assert not sights.look(chosen(), machine).builds

    @pytest.mark.usefixtures("engine_up")
    def test_what_is_forced_to_be_built_is_built(self, chosen: Any, sight: Sight) -> None:
        assert replace(sight, settings=chosen(PROVIDERS="node-image=build")).builds
        assert not replace(sight, settings=chosen(PROVIDERS="node-image=pull")).builds
