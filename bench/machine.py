"""The facts without which a figure means nothing: processor, memory, kernel, engine, versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
from pathlib import Path
from typing import Any

from bench.environment import Environment
from schedproof import __version__
from schedproof.host.docker import docker

OURS = ("pytest", "pytest-xdist", "pytest-kind", "kubernetes")
THEIRS = ("pytest", "pytest-kind", "pykube-ng", "pytest-kubernetes", "kr8s")


def facts(environment: Environment, **versions: str) -> dict[str, Any]:
    """Return what is known of this machine.

    Args:
        environment: The rivals' virtual environment.
        versions: What the measurement used: kind, kubernetes, node_image, scheduler, ...
    """
    engine = docker("version", "--format", "{{.Server.Version}}").stdout.strip()
    driver = docker("info", "--format", "{{.Driver}}, cgroup v{{.CgroupVersion}}").stdout.strip()
    return {
        "cpu": _first(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo")),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(_first(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo")) or 0) / 2**20, 1),
        "kernel": platform.release(),
        "system": platform.freedesktop_os_release().get("PRETTY_NAME", platform.system()),
        "engine": f"docker {engine} ({driver})",
        "load_before": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "schedproof": __version__,
        "ours": {name: importlib.metadata.version(name) for name in OURS},
        "theirs": environment.versions(THEIRS),
        **versions,
    }


def line(found: dict[str, Any]) -> str:
    """Return the machine in one line."""
    return (
        f"{found['cpu']}, {found['cores']} cores, {found['memory_gib']} GiB, kernel {found['kernel']}, "
        f"{found['engine']}; load {found['load_before']} before"
    )


def _first(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return match[1].strip() if match else ""
