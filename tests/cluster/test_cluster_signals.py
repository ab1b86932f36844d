"""SIGTERM and kill -9: nothing of ours stays, at once or with the next run; other people's clusters do."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schedproof.cluster import owner
from schedproof.cluster.signals import Terminated, shielded, terminable
from schedproof.cluster.sweep import sweep

RUN = """
import sys
from pathlib import Path
from schedproof.cluster import ready, removal, start
from schedproof.settings import settings
removal.SETTLE_SECONDS = 0.0
ready.wait_until_nodes_ready = lambda kubeconfig, count: None
programs = Path(sys.argv[1])
with start.running(settings(), kind=programs / "kind", kubectl=programs / "kubectl",
                   node_image="schedproof/node:v1.37.2", kubernetes="v1.37.2"):
    with open(sys.argv[2], "w") as told:   # a FIFO: opening waits for the test
        told.write("running")
    import signal
    signal.pause()
"""


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return path


def begin(engine: Any, fifo: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a run of its own process; return it and what it, or the hanging kind, wrote to the FIFO."""
    command = [sys.executable, "-c", RUN, str(engine.kind.parent), str(fifo)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    return process, fifo.read_text()


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_sigterm_during_the_creation_leaves_nothing_and_ends_kind(engine: Any, fifo: Path) -> None:
    engine.set(hang=str(fifo))
    process, kind_pid = begin(engine, fifo)
    assert len(engine.names) == 3

    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=20)[1]

    assert "SIGTERM: ending; what this run made is removed" in errors
    assert "Terminated" in errors
    assert engine.names == []
    assert not alive(int(kind_pid))
    assert list(owner.root().iterdir()) == []


def test_sigterm_while_claims_run_leaves_nothing(engine: Any, fifo: Path) -> None:
    process, said = begin(engine, fifo)
    assert said == "running"
    assert len(engine.names) == 3

    process.terminate()
    process.communicate(timeout=20)

    assert engine.names == []
    assert list(owner.root().iterdir()) == []


def test_kill_9_during_the_creation_is_cleaned_up_by_the_next_run_with_the_kind_that_lived_on(
    engine: Any, fifo: Path, lines: io.StringIO
) -> None:
    engine.add_cluster("somebody-elses")
    engine.set(hang=str(fifo))
    process, kind_pid = begin(engine, fifo)
    process.kill()
    process.communicate()
    assert len(engine.names) == 6
    assert alive(int(kind_pid))

    (removed,) = sweep()

    assert removed.startswith("schedproof-")
    assert f"the run with process id {process.pid} left the cluster {removed}" in lines.getvalue()
    assert {name.rpartition("-")[0] for name in engine.names} >= {"somebody-elses"}
    assert len(engine.names) == 3
    assert not alive(int(kind_pid))
    assert list(owner.root().iterdir()) == []


def test_cluster_of_a_live_run_is_left_alone_by_another_run(engine: Any, fifo: Path) -> None:
    process, _ = begin(engine, fifo)
    try:
        assert sweep() == []
        assert len(engine.names) == 3
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_second_signal_does_not_break_the_cleaning_up(lines: io.StringIO) -> None:
    cleaned = []

    def work() -> None:
        with terminable():
            try:
                signal.raise_signal(signal.SIGTERM)
            finally:
                signal.raise_signal(signal.SIGTERM)
                signal.raise_signal(signal.SIGINT)
                cleaned.append(True)

    with pytest.raises(Terminated, match="SIGTERM"):
        work()

    assert cleaned == [True]
    assert "SIGINT again: already cleaning up" in lines.getvalue()


def test_signal_during_a_deletion_waits_for_its_end() -> None:
    done = []

    def work() -> None:
        with shielded():
            signal.raise_signal(signal.SIGINT)
            done.append("deleted")
        done.append("went on")

    with pytest.raises(Terminated):
        work()

    assert done == ["deleted"]


def test_signal_during_a_deletion_that_fails_still_ends_the_run() -> None:
    def work() -> None:
        with shielded():
            signal.raise_signal(signal.SIGTERM)
            raise OSError("fault")

    with pytest.raises(Terminated) as caught:
        work()

    assert isinstance(caught.value.__context__, OSError)


def test_handlers_are_the_old_ones_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with terminable(), terminable():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_name_is_owned_once_and_is_free_after_release() -> None:
    first = owner.take("schedproof-x")
    assert first is not None
    assert owner.take("schedproof-x") is None
    first.release()
    second = owner.take("schedproof-x")
    assert second is not None
    second.release()


def test_record_that_cannot_be_read_is_no_record(engine: Any) -> None:
    engine.add_cluster("schedproof-y")
    (owner.root() / "schedproof-y.json").write_text("{")
    (owner.root() / "schedproof-y.lock").touch()

    assert sweep() == []
    assert len(engine.names) == 3


def test_hangup_that_nohup_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
            assert signal.getsignal(signal.SIGTERM) not in (signal.SIG_IGN, signal.SIG_DFL)
    finally:
        signal.signal(signal.SIGHUP, before)
