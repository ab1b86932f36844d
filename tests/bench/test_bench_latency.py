"""The parts of the latency measurement that need no cluster: waiters, busy processors, the arithmetic."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench import busy, latency
from bench.waiters import protocol
from schedproof.binder.audit import AuditLog
from schedproof.errors import HarnessError


def test_waiter_answers_with_the_time_of_the_waits_return(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waited: list[tuple[str, str]] = []
    monkeypatch.setattr(sys, "stdin", io.StringIO("a pod-1\nb pod-2\n"))
    before = time.time_ns()

    protocol.serve(lambda namespace, name: waited.append((namespace, name)))

    ready, *answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert ready == {"ready": True}
    assert waited == [("a", "pod-1"), ("b", "pod-2")]
    assert before <= answers[0]["returned"] <= answers[1]["returned"]


def test_busy_processes_are_as_many_as_asked_for_and_end_with_the_block() -> None:
    with busy.busy(2) as pids:
        assert len(pids) == 2
        assert [os.getpriority(os.PRIO_PROCESS, pid) for pid in pids] == [os.getpriority(os.PRIO_PROCESS, 0)] * 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_latency_is_the_return_less_the_audit_logs_times() -> None:
    answered = datetime(2026, 12, 1, 12, 0, 0, 2000, tzinfo=UTC)
    binding = SimpleNamespace(accepted=True, time=answered, received=answered.replace(microsecond=500))
    audit = cast("AuditLog", SimpleNamespace(bindings=lambda _: [binding]))

    found: dict[str, Any] = latency._latencies(audit, [("uid", int(answered.timestamp()) * 10**9 + 3_500_000)])

    assert found["after_answer"]["p50"] == pytest.approx(1.5)
    assert found["after_request"]["p50"] == pytest.approx(3.0)


def test_bind_that_the_audit_log_does_not_know_is_an_error_not_a_figure() -> None:
    audit = cast("AuditLog", SimpleNamespace(bindings=lambda _: []))

    with pytest.raises(HarnessError, match="each bind is in the audit log"):
        latency._latencies(audit, [("uid", 1)])
