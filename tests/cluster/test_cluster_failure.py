"""The known reasons why a cluster cannot be made are told apart, and the logs are kept and bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof.cluster import failure


@pytest.mark.parametrize(
    ("output", "node_log", "cause"),
    [
        ('ERROR: could not find a log line that matches "Reached target"', "", "never booted"),
        ("ERROR: failed to init node with kubeadm: exit status 1", "", "kubeadm could not"),
        ("ERROR: failed to join node with kubeadm: exit status 1", "", "a worker could not join"),
        ('ERROR: failed to pull image "nowhere/node": command failed', "", "not in the engine and cannot be pulled"),
        ("docker: Error response from daemon: Bind for 127.0.0.1:4 failed: port is already allocated", "", "the port"),
        ("ERROR: failed to get docker info", "", "engine stopped answering"),
        ("write /var/lib: no space left on device", "", "disk is full"),
        ('ERROR: node(s) already exist for a cluster with the name "x"', "", "took the name"),
        ("failed to init node", "kubelet is configured to not run on a host using cgroup v1", "refuses cgroup v1"),
        ("failed to init node with kubeadm", "Failed to create inotify_init1: Too many open files", "inotify"),
        ('could not find a log line that matches "x"', "directory watch: Too many open files", "inotify"),
        ("failed to init node", "loading audit policy file: no such file", "engine runs on another machine"),
        ("ERROR: failed to write KUBECONFIG: open x", "", "its kubeconfig could not be written"),
        ("ERROR: failed to lock config file: open x", "", "its kubeconfig could not be written"),
        ("ERROR: failed to create cluster: failed to ensure docker network", "", "address pools"),
        ("ERROR: unable to decode config: unknown field", "", "does not understand the configuration"),
    ],
)  # fmt: skip
def test_each_known_reason_has_words_of_its_own(
    output: str, node_log: str, cause: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "x-worker-journal.log").write_text(node_log)
    monkeypatch.setattr(failure, "collect", lambda name, output: tmp_path)  # noqa: ARG005 - its signature

    error = failure.explain("x", "exit code 1 after 3 s", "Preparing nodes", output)

    assert cause in error.message.cause
    assert "while: Preparing nodes" in error.message.seen
    assert error.message.cure


def test_node_that_never_booted_is_quoted(engine: Any) -> None:
    engine.add_cluster("x")
    engine.set(node_log="INFO: starting\n\nFailed to create /init.scope control group: Read-only file system\n")

    error = failure.explain("x", "exit code 1", "Preparing nodes", 'could not find a log line that matches "x"')

    assert "x-control-plane.log:" in error.message.seen
    assert error.message.seen.endswith("control group: Read-only file system")


def test_word_in_a_nodes_log_does_not_pass_for_kinds_own(engine: Any) -> None:
    engine.add_cluster("x")
    engine.set(node_log='kubelet: "failed to pull image" coredns')

    error = failure.explain("x", "exit code 1", "Starting control-plane", "ERROR: failed to init node with kubeadm")

    assert "kubeadm could not" in error.message.cause


@pytest.mark.usefixtures("engine")
def test_unknown_reason_shows_kinds_own_error_line() -> None:
    error = failure.explain("x", "exit code 1", "", "a\nERROR: something new\nStack Trace:")

    assert "ERROR: something new" in str(error)
    assert error.message.cause == ""


def test_logs_of_each_node_are_kept_and_bounded(engine: Any) -> None:
    engine.add_cluster("x")
    engine.set(node_log="ü" * failure.LOG_BYTES)

    kept = failure.collect("x", "kind's words")

    names = {path.name for path in kept.iterdir()}
    assert {"kind.txt", "x-worker.log", "x-worker-journal.log", "x-control-plane-containers.log"} <= names
    assert all(path.stat().st_size <= failure.LOG_BYTES + 3 for path in kept.iterdir())


def test_engine_that_is_gone_leaves_its_own_words_instead_of_logs(engine: Any) -> None:
    engine.set(engine="down")

    kept = failure.collect("x")

    assert "Cannot connect to the Docker daemon" in (Path(kept) / "engine.txt").read_text()
