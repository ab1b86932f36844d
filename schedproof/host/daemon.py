"""Start an engine that is installed and does not run, and stop one that we started.

With systemd as first process its unit is started. Elsewhere (containers, small virtual machines) dockerd runs as a
process of its own, in a session of its own: it outlives this run, like any service, until `make clean` or a reboot.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tenacity import Retrying, retry_if_exception_type, retry_if_result, stop_after_delay, wait_fixed

from schedproof.command import CommandFailed, run
from schedproof.errors import EngineError
from schedproof.host import record
from schedproof.host.docker import EngineUnreachable
from schedproof.host.machine import Machine, Process
from schedproof.host.probe import Engine, probe
from schedproof.progress import progress

ANSWERS = 120.0
"""Seconds until a started engine answers: 2 s on an empty one; one that was killed first ends the containers of its
former life, up to 15 s each, side by side."""

ENDS = 90.0
"""Seconds until an engine has ended after SIGTERM: it gives its containers 15 s, and those that hang 15 s more."""

POLL = wait_fixed(0.2)

LOG_LINES = 12
"""So many of the daemon's last lines are shown when it does not come up."""

PID_FILE = "var/run/docker.pid"

_LEFT_BY_CONTAINERD = (
    "var/run/docker/containerd/containerd.pid",
    "var/run/docker/containerd/containerd.sock",
    "var/run/docker/containerd/containerd.sock.ttrpc",
    "var/run/docker/containerd/containerd-debug.sock",
)

_children: list[subprocess.Popen[bytes]] = []
"""Daemons of this process: kept, so that Python does not complain about a child that it was told to leave alone."""


def log_file() -> Path:
    """Return where a dockerd that we start as a process of its own writes."""
    return record.folder() / "dockerd.log"


def running(machine: Machine) -> Process | None:
    """Return the live dockerd that the pid file names; None when it is gone, or its number is another program's now."""
    return _holder(machine, PID_FILE, "dockerd")


def remove_stale(machine: Machine) -> list[str]:
    """Remove pid files and sockets of daemons that are dead, and return what was removed.

    A pid file whose number another process has got since keeps dockerd from starting ("process ... is still running").
    """
    gone: list[str] = []
    if running(machine) is None and (reason := _stale(machine, PID_FILE)):
        gone += _unlink(machine, (PID_FILE,), reason)
    pid_file = _LEFT_BY_CONTAINERD[0]
    if _holder(machine, pid_file, "containerd") is None and (reason := _stale(machine, pid_file)):
        gone += _unlink(machine, _LEFT_BY_CONTAINERD, reason)
    return gone


def start(machine: Machine) -> Engine:
    """Start the installed engine and return it when it answers.

    Raises:
        EngineError: It did not come up; the message has its last log lines.
    """
    live = running(machine)
    if live is not None:
        # Somebody else started it a moment ago (the boot, another run): it only has to finish.
        with progress.step(f"container engine: waits for dockerd (pid {live.pid}) to answer"):
            return wait_until_it_answers(lambda: machine.process(live.pid) == live, lambda: _lines_of_journal(machine))
    for line in remove_stale(machine):
        progress.line(f"  container engine: {line}")
    return _start_unit(machine) if machine.systemd else _start_process(machine)


def _start_unit(machine: Machine) -> Engine:
    with progress.step("container engine: systemctl start docker"):
        try:
            run(["systemctl", "start", "docker"], seconds=ANSWERS)
        except CommandFailed as error:
            raise _did_not_come_up(error.message.seen, _lines_of_journal(machine)) from error
        _note(record.Started(systemd=True))
        return wait_until_it_answers(lambda: True, lambda: _lines_of_journal(machine))


def _start_process(machine: Machine) -> Engine:
    program = machine.which("dockerd")
    if program is None:
        raise EngineError("dockerd is installed", seen="no program dockerd", cure="install Docker, see `make doctor`")
    log = log_file()
    with progress.step(f"container engine: starts dockerd, log in {log}"):
        child = spawn([program], log)
        process = machine.process(child.pid)
        if process is not None:
            _note(record.Started(systemd=False, pid=process.pid, ticks=process.started))
        return wait_until_it_answers(lambda: child.poll() is None, lambda: last_lines(log))


def spawn(argv: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a daemon in a session of its own, writing to ``log`` (the former one is kept as ``.1``).

    Not :func:`schedproof.command.run`, which is for programs that end before we do.
    """
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    try:
        with log.open("wb") as out:
            child = subprocess.Popen(
                list(argv), stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/", start_new_session=True
            )
    except OSError as error:
        raise EngineError(f"{argv[0]} can be started", seen=str(error), cure="see `make doctor`") from error
    _children.append(child)
    log.with_name(f"{log.stem}.pid").write_text(f"{child.pid}\n", encoding="utf-8")
    return child


def wait_until_it_answers(alive: Callable[[], bool], log: Callable[[], str], *, seconds: float = ANSWERS) -> Engine:
    """Return the engine as soon as it answers.

    Raises:
        EngineError: It ended, or it does not answer within ``seconds``; the message has its last log lines.
    """

    def ask() -> Engine:
        # Asked first whether it lives: one that ends between the two questions is found out the next time.
        lives = alive()
        try:
            return probe(seconds=15)
        except EngineUnreachable as error:
            if not lives:
                raise _did_not_come_up("dockerd ended", log()) from error
            raise

    try:
        return Retrying(
            stop=stop_after_delay(seconds), wait=POLL, retry=retry_if_exception_type(EngineUnreachable), reraise=True
        )(ask)
    except EngineUnreachable as error:
        raise _did_not_come_up(f"no answer within {seconds:.0f} s ({error.seen})", log()) from error


def stop(machine: Machine, process: Process) -> None:
    """End a dockerd, and wait until it is gone (it ends its containers first).

    Raises:
        EngineError: It still runs after a generous time, or may not be ended.
    """
    with progress.step(f"container engine: ends dockerd (pid {process.pid})"):
        if machine.process(process.pid) != process:
            return
        try:
            os.kill(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            return
        except PermissionError as error:
            raise EngineError(
                f"dockerd (pid {process.pid}) may be ended", seen=str(error), cure="do it as root"
            ) from error
        _reap(process.pid)
        still_there = Retrying(
            stop=stop_after_delay(ENDS),
            wait=POLL,
            retry=retry_if_result(bool),
            retry_error_callback=lambda _: True,
        )(lambda: _reap(process.pid) or machine.process(process.pid) == process)
        if still_there:
            raise EngineError(
                f"dockerd (pid {process.pid}) ends within {ENDS:.0f} s after SIGTERM",
                seen="it still runs",
                cure=f"kill -9 {process.pid}",
            )


def last_lines(log: Path) -> str:
    """Return the end of a daemon's log, each line cut to a readable length."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return f"(no log: {error})"
    return "\n".join(line[:300] for line in lines[-LOG_LINES:]) or "(its log is empty)"


def _did_not_come_up(seen: str, log: str) -> EngineError:
    # Its log has harmless warnings of every kind; the reason is in the line with which it gave up.
    gave_up = [line for line in log.lower().splitlines() if "failed to start" in line] or [log.lower()]
    for words, cause, cure in (
        ("no space left on device", "the disk is full", "free space"),
        ("daemon.json", "/etc/docker/daemon.json is wrong", "mend that file"),
        ("is still running", "another dockerd is running here", "end it, or let it answer"),
        ("iptables", "the kernel or its iptables refuse dockerd", "run where root may change the firewall"),
        (
            "not permitted",
            "root may not do here what an engine must",
            "use a virtual machine, or a container with --privileged",
        ),
    ):
        if words in gave_up[-1]:
            return EngineError("the container engine comes up", seen=f"{seen}\n{log}", cause=cause, cure=cure)
    return EngineError("the container engine comes up", seen=f"{seen}\n{log}", cure="mend what its log says, run again")


def _note(started: record.Started) -> None:
    noted = record.read()
    noted.started = started
    record.write(noted)


def _holder(machine: Machine, pid_file: str, name: str) -> Process | None:
    pid = machine.number(pid_file)
    process = machine.process(pid) if pid else None
    return process if process is not None and process.name == name else None


def _stale(machine: Machine, pid_file: str) -> str:
    """Return why a pid file is stale; empty when there is none."""
    if not machine.path(pid_file).exists():
        return ""
    pid = machine.number(pid_file)
    process = machine.process(pid) if pid else None
    return f"pid {pid} is {process.name} now" if process is not None else f"pid {pid} is dead"


def _unlink(machine: Machine, places: Sequence[str], reason: str) -> list[str]:
    removed: list[str] = []
    for place in places:
        path = machine.path(place)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            removed.append(f"removed a stale {path} ({reason})")
    return removed


def _lines_of_journal(machine: Machine) -> str:
    if not machine.systemd:
        return last_lines(log_file())
    done = run(["journalctl", "-u", "docker", "-n", str(LOG_LINES), "--no-pager"], seconds=20, check=False)
    return done.stdout.strip() or done.stderr.strip()


def _reap(pid: int) -> bool:
    """Collect a daemon that is our own child and has ended; False always, so that it fits into a condition."""
    for child in _children:
        if child.pid == pid:
            child.poll()
    return False
