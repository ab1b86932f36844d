"""Ask the container engine what it is. Asking changes nothing, neither in it nor on the machine."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from schedproof.command import CommandFailed
from schedproof.errors import EngineError
from schedproof.host.docker import QUICK, EngineUnreachable, docker
from schedproof.host.machine import Machine

LOCAL_SOCKETS = ("unix:///var/run/docker.sock", "unix:///run/docker.sock")
"""Where a Docker of this machine listens unless somebody set it up otherwise."""

FIRST_WITHOUT_SYS_RESOURCE = 23
"""Docker before 23 asks for every capability there is and fails where one is missing ("unable to apply caps"); newer
ones give a privileged container what the machine has. Seen: 20.10.24 fails, 26.1.5 works."""

_ARCHITECTURES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True)
class Engine:
    """An engine that answered.

    Attributes:
        version: Of the daemon, e.g. ``26.1.5+dfsg1``.
        storage_driver: e.g. ``overlay2``; ``overlayfs`` with the containerd image store.
        cgroup_version: 1 or 2, on the engine's machine; 0 when it does not say.
        containerd_store: Whether images live in containerd's store, which keeps them per platform (kind#3795).
        arch: Go's word for its machine: amd64, arm64, or what it said.
        root: Folder where it keeps images and containers, on its machine.
        cpus: Processors of its machine (or of Docker Desktop's).
        memory: Bytes of memory there.
        rootless: Whether it runs without root's rights.
        mirrors: Addresses that it pulls through, its proxy among them; none where it goes to the registry itself.
    """

    version: str
    storage_driver: str
    cgroup_version: int
    containerd_store: bool
    arch: str
    root: str = ""
    cpus: int = 0
    memory: int = 0
    rootless: bool = False
    mirrors: tuple[str, ...] = ()

    @property
    def major(self) -> int:
        """The first number of the version; 0 when it begins with none (a development build)."""
        number = re.match(r"\d+", self.version)
        return int(number[0]) if number else 0


def probe(seconds: float = QUICK) -> Engine:
    """Return what the engine says of itself.

    Raises:
        EngineUnreachable: Nobody answers within ``seconds``, or nobody may be asked.
        EngineError: What answers is no Docker.
    """
    try:
        done = docker("info", "--format", "{{json .}}", seconds=seconds, check=False)
    except CommandFailed as error:
        raise EngineUnreachable("silent", error.message.seen) from error
    try:
        info = json.loads(done.stdout)
    except ValueError:
        info = None
    if not isinstance(info, dict) or (done.code == 0 and "ServerVersion" not in info):
        raise EngineError(
            "the docker command line speaks to a Docker engine",
            seen=f"`docker info` said: {(done.stderr or done.stdout).strip()[:300] or 'nothing'}",
            cause="another program is called docker here (Podman's stand-in?); kind and schedproof need Docker's own",
            cure="install Docker, or put its command line first on PATH",
        )
    if not info.get("ServerVersion"):
        raise EngineUnreachable("down", (done.stderr or "; ".join(info.get("ServerErrors") or [])).strip()[:300])
    return _engine(info)


def _engine(info: dict[str, Any]) -> Engine:
    status = {pair[0]: pair[1] for pair in info.get("DriverStatus") or [] if len(pair) == 2}  # noqa: PLR2004 - pairs
    registries = info.get("RegistryConfig") or {}
    through = [*(registries.get("Mirrors") or []), info.get("HttpsProxy"), info.get("HttpProxy")]
    machine = str(info.get("Architecture") or "")
    return Engine(
        version=str(info["ServerVersion"]),
        storage_driver=str(info.get("Driver") or ""),
        # Engines before 20.10 do not say it, and knew version 1 only.
        cgroup_version=int(info.get("CgroupVersion") or 1),
        containerd_store=str(status.get("driver-type", "")).startswith("io.containerd.snapshotter"),
        arch=_ARCHITECTURES.get(machine, machine),
        root=str(info.get("DockerRootDir") or ""),
        cpus=int(info.get("NCPU") or 0),
        memory=int(info.get("MemTotal") or 0),
        rootless=any("name=rootless" in str(option) for option in info.get("SecurityOptions") or []),
        mirrors=tuple(str(address) for address in through if address),
    )


def endpoint() -> str:
    """Return where the docker command line looks for its engine (``DOCKER_HOST``, its context, or the default)."""
    done = docker("context", "inspect", "--format", "{{.Endpoints.docker.Host}}", check=False)
    return done.stdout.strip() or LOCAL_SOCKETS[0]


def unfit(engine: Engine, machine: Machine) -> str:
    """Return why kind's nodes cannot live in an engine that answers; empty when they can."""
    if machine.lacks_sys_resource and 0 < engine.major < FIRST_WITHOUT_SYS_RESOURCE:
        return (
            f"Docker {engine.version} cannot start a privileged container here: this machine lacks CAP_SYS_RESOURCE, "
            f"which Docker before {FIRST_WITHOUT_SYS_RESOURCE} insists on"
        )
    return ""


def fit(engine: Engine, machine: Machine) -> Engine:
    """Return the engine.

    Raises:
        EngineError: kind's nodes cannot live in it.
    """
    if why := unfit(engine, machine):
        raise EngineError("the container engine can start kind's nodes", seen=why, cure=NEWER_DOCKER)
    return engine


NEWER_DOCKER = (
    f"install Docker {FIRST_WITHOUT_SYS_RESOURCE} or newer; on Debian 12: remove docker.io (apt-get purge docker.io), "
    "then `make e2e` installs the next Debian's"
)
