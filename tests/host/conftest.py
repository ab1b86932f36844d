"""A machine of files, an engine of two fakes: docker answers while a file says that dockerd runs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tenacity import wait_none

from schedproof.host import apt, checks, daemon, program_checks
from schedproof.host import sight as sight_module
from schedproof.host.machine import Machine
from schedproof.host.probe import Engine
from schedproof.host.sight import Sight
from schedproof.settings import Settings, settings

INFO: dict[str, Any] = {
    "ServerVersion": "26.1.5+dfsg1",
    "Driver": "overlay2",
    "DriverStatus": [["Backing Filesystem", "extfs"]],
    "CgroupVersion": "1",
    "Architecture": "x86_64",
    "NCPU": 2,
    "MemTotal": 8 << 30,
    "DockerRootDir": "/var/lib/docker",
    "SecurityOptions": ["name=seccomp,profile=builtin"],
    "RegistryConfig": {"Mirrors": None},
}
"""The part of `docker info` that is read, as Docker 26.1.5 gave it."""

ENGINE = Engine(
    "26.1.5+dfsg1", "overlay2", 1, containerd_store=False, arch="amd64", root="/var/lib/docker", cpus=2, memory=8 << 30
)

DOCKER = """
up = {up!r}
if argv[:2] == ["context", "inspect"]:
    print(os.environ.get("ENDPOINT", "unix:///var/run/docker.sock"))
elif not os.path.exists(up):
    print("Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?", file=sys.stderr)
    print(json.dumps(dict(ServerVersion="")) if argv[0] == "info" else "")
    sys.exit(1)
elif argv[0] == "info":
    print(open(up).read())
"""

DOCKERD = """
import signal
print("starting up", flush=True)
with open({up!r} + ".part", "w") as up:
    up.write({info!r})
os.rename({up!r} + ".part", {up!r})
signal.pause()
"""

DEBIAN_12 = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n'

SOURCES = """\
# a comment
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
"""

APT_GET = """
state = {folder!r}
words = [word for word in argv if not word.startswith("-") and "=" not in word]
trouble = os.environ.get("APT_TROUBLE", "")
if words[0] == "update" and "update" in trouble:
    print("E: Failed to fetch http://mirror.example/debian  Could not connect", file=sys.stderr)
    sys.exit(100)
if words[0] == "install" and "--simulate" in argv:
    if "unknown" in trouble:
        print("E: Unable to locate package docker.io", file=sys.stderr)
        sys.exit(100)
    print("Inst runc (1.1.5 Debian:12/stable [amd64])")
    print("Inst libc6 [2.36] (2.41 Debian:13/testing [amd64])")
    print("Inst docker.io (26.1.5 Debian:13/testing [amd64])")
elif words[0] == "install":
    attempt = sum(1 for call in open(state + "/apt-get.calls") if '"install"' in call and "--simulate" not in call)
    if "interrupted" in trouble and attempt == 1:
        print("E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct it", file=sys.stderr)
        sys.exit(100)
    if "full" in trouble:
        print("pmstatus:docker.io:40:Unpacking docker.io", file=sys.stderr)
        print("E: You don't have enough free space in /var/cache/apt/archives/.", file=sys.stderr)
        sys.exit(100)
    print("dlstatus:1:12.5:Retrieving file 1 of 8", file=sys.stderr)
    os.rename(state + "/dockerd.not-yet-installed", {dockerd!r})
"""

Make = Callable[..., Any]


@pytest.fixture(autouse=True)
def _only_fakes(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a test takes a program away, a real one of this machine (/usr/bin/dockerd) must not step in."""
    monkeypatch.setenv("PATH", str(guarded))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daemon, "POLL", wait_none())
    monkeypatch.setattr(apt, "RETRY_WAIT", wait_none())


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine that runs the self-tests must not look like an engine that hangs."""
    monkeypatch.setattr(sight_module, "ANSWER", 60.0)
    monkeypatch.setattr(checks, "ALL", 60.0)
    monkeypatch.setattr(program_checks, "ASK", 60.0)


@pytest.fixture(autouse=True)
def _no_daemon_stays(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    children: list[Any] = []
    monkeypatch.setattr(daemon, "_children", children)
    yield
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The root folder of a Debian 12 without systemd, with the files that schedproof reads."""
    files = {
        "etc/os-release": DEBIAN_12,
        "etc/apt/sources.list.d/debian.sources": SOURCES,
        "proc/self/status": "Name:\tpython\nCapBnd:\t000001fffeffffff\n",
        "proc/meminfo": "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\nSwapTotal: 0 kB\n",
        "proc/cgroups": "",
        "proc/sys/fs/inotify/max_user_instances": "512\n",
        "proc/sys/fs/inotify/max_user_watches": "192536\n",
    }
    for place, text in files.items():
        path = tmp_path / "root" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "root"


@pytest.fixture
def machine(root: Path) -> Machine:
    """That Debian 12, used by root; its processes are the real ones."""
    return Machine(root=root, uid=0, environ={}, architecture="x86_64", cpus=2, system="Linux")


@pytest.fixture
def up(tmp_path: Path) -> Path:
    """The file that says that the engine runs: what `docker info` answers."""
    return tmp_path / "engine-up"


@pytest.fixture
def engine_down(fake: Make, up: Path) -> Any:
    """A docker program whose engine does not run."""
    return fake("docker", DOCKER.format(up=str(up)))


@pytest.fixture
def engine_up(engine_down: Any, up: Path) -> Any:
    """A docker program whose engine answers."""
    up.write_text(json.dumps(INFO))
    return engine_down


@pytest.fixture
def engine_says(engine_up: Any, up: Path) -> Callable[..., Any]:
    """An engine whose `docker info` differs from the usual one: ``engine_says(ServerVersion="20.10.24")``."""

    def say(**changes: Any) -> Any:
        up.write_text(json.dumps({**INFO, **changes}))
        return engine_up

    return say


@pytest.fixture
def dockerd(fake: Make, up: Path) -> Any:
    """An installed dockerd that comes up when it is started."""
    return fake("dockerd", DOCKERD.format(up=str(up), info=json.dumps(INFO)))


@pytest.fixture
def apt_get(fake: Make, dockerd: Any, tmp_path: Path) -> Any:
    """A machine without dockerd, whose apt-get brings it."""
    dockerd.path.rename(tmp_path / "dockerd.not-yet-installed")
    return fake("apt-get", APT_GET.format(folder=str(tmp_path), dockerd=str(dockerd.path)))


@pytest.fixture
def chosen() -> Callable[..., Settings]:
    """Settings from variables: ``chosen(BOOTSTRAP="0")``."""
    return lambda **environ: settings({}, environ)


@pytest.fixture
def sight(machine: Machine, chosen: Callable[..., Settings]) -> Sight:
    """Facts of a machine on which nothing is wrong."""
    return Sight(chosen(), machine, engine=ENGINE, registry=True)
