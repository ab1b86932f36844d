"""What schedproof installed or started to have an engine: list it, stop it, undo it. ``make clean`` is its user."""

from __future__ import annotations

import shutil

from schedproof.command import run
from schedproof.errors import EngineError
from schedproof.host import apt, daemon, record
from schedproof.host.machine import Machine, Process
from schedproof.progress import progress


def ours(machine: Machine | None = None) -> list[str]:
    """Return what schedproof installed or started, one line each; empty when nothing is ours."""
    here, noted = machine or Machine(), record.read()
    lines: list[str] = []
    if noted.started is not None and noted.started.systemd:
        lines.append("systemd unit docker (started by schedproof)")
    elif noted.started is not None and _own_process(noted.started, here):
        lines.append(f"process dockerd, pid {noted.started.pid} (started by schedproof)")
    if noted.packages:
        lines.append(f"packages {' '.join(noted.packages)}")
    lines += [f"file {here.path(place)}" for place in noted.files if here.path(place).exists()]
    if noted.data and here.path(noted.data).exists():
        lines.append(f"folder {here.path(noted.data)} (images, containers and volumes of that engine)")
    return lines


def stop_ours(machine: Machine | None = None) -> list[str]:
    """Stop the engine if schedproof started it, and return what was done, in words. Another's engine is left alone.

    Raises:
        EngineError: It does not end.
    """
    here, noted = machine or Machine(), record.read()
    if noted.started is None:
        return []
    done: list[str] = []
    if noted.started.systemd:
        run(["systemctl", "stop", "docker.socket", "docker.service"], seconds=daemon.ENDS)
        done.append("stopped the systemd unit docker")
    elif process := _own_process(noted.started, here):
        daemon.stop(here, process)
        done.append(f"ended dockerd, pid {process.pid}")
    noted.started = None
    record.write(noted)
    return done


def remove_ours(machine: Machine | None = None, *, data: bool = True) -> list[str]:
    """Undo all that schedproof did to have an engine, and return what was done, in words.

    Args:
        machine: Facts about this machine, by default this one's.
        data: Whether its images, containers and volumes go too; never those that another engine made.

    Raises:
        EngineError: The engine does not end, or apt refused; what is left is still written down for the next time.
    """
    here = machine or Machine()
    done = stop_ours(here)
    noted = record.read()
    if noted.packages:
        if process := daemon.running(here):
            # Installed by us and started by its own package: its files are about to go.
            daemon.stop(here, process)
        with progress.step(f"container engine: removes {len(noted.packages)} packages") as step:
            # docker.io's purge script deletes /var/lib/docker: only where that is what was asked for.
            apt.remove(noted.packages, step, purge=data and bool(noted.data))
        done.append(f"removed the packages {' '.join(noted.packages)}")
        noted.packages = []
        record.write(noted)
    for place in noted.files:
        if here.path(place).exists():
            here.path(place).unlink()
            done.append(f"removed {here.path(place)}")
    noted.files = []
    record.write(noted)
    if data and noted.data:
        done += _remove_data(here, noted.data)
        record.write(noted.model_copy(update={"data": ""}))
    shutil.rmtree(record.folder(), ignore_errors=True)
    return done


def _remove_data(machine: Machine, place: str) -> list[str]:
    folder = machine.path(place)
    if not folder.exists():
        return []
    # A killed dockerd leaves its mounts, its own folder's bind mount among them; the innermost go first.
    mounts = [line.split()[4] for line in machine.text("proc/self/mountinfo").splitlines()]
    for mount in sorted((mount for mount in mounts if f"{mount}/".startswith(f"{folder}/")), reverse=True):
        run(["umount", "--lazy", mount], seconds=30, check=False)
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise EngineError(f"{folder} can be removed", seen=str(error), cure="remove it by hand") from error
    return [f"removed {folder}"]


def _own_process(started: record.Started, machine: Machine) -> Process | None:
    """Return the process that we started, if its number still is its own."""
    process = machine.process(started.pid)
    return process if process is not None and process.started == started.ticks else None
