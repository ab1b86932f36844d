"""The audit log: what its lines say, and reading them while the file grows, is rotated, or is cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schedproof.binder.audit import AuditLog
from schedproof.binder.entries import Binding, Deletion, LeaseUpdate, NotAnEntry, StatusPatch, parse
from schedproof.binder.tail import Tail
from schedproof.cluster.facts import Facts
from schedproof.errors import ApiError, ClusterError
from schedproof.watch.deadlines import Deadline

Line = Callable[..., str]
OTHER = """#!/bin/sh
node=$2
shift 2
if [ "$node" = cp2 ]; then
  # the second control plane of a test has a file of its own
  exec "$1" "$2" "$3" "$4" {other} "$6" "$7" "$8"
fi
exec "$@"
"""
SA = "system:serviceaccount:kube-system:my-scheduler"


def test_a_binding_tells_who_which_process_whom_and_where(line: Line) -> None:
    entry = parse(line("binding", SA, code=201, uid="u1", node="n1", process="my-scheduler-5d-x"))
    assert isinstance(entry, Binding)
    assert (entry.user, entry.process, entry.uid, entry.node, entry.accepted) == (
        SA, "my-scheduler-5d-x", "u1", "n1", True,
    )  # fmt: skip
    assert entry.who == f"{SA} (pod my-scheduler-5d-x)"
    assert entry.time.tzinfo is not None


def test_a_binding_by_the_older_path_has_its_name_in_the_body() -> None:
    event = {
        "kind": "Event", "stage": "ResponseComplete", "verb": "create", "user": {"username": SA},
        "objectRef": {"resource": "bindings", "namespace": "ns"}, "responseStatus": {"code": 201},
        "requestObject": {"metadata": {"name": "pod1", "uid": "u1"}, "target": {"name": "n1"}},
        "requestReceivedTimestamp": "2026-12-01T16:18:00.067940Z", "stageTimestamp": "2026-12-01T16:18:00.117200Z",
    }  # fmt: skip
    entry = parse(json.dumps(event))
    assert isinstance(entry, Binding)
    assert (entry.name, entry.uid, entry.node) == ("pod1", "u1", "n1")


def test_an_impersonated_user_is_the_one_who_asked(line: Line) -> None:
    event = json.loads(line("binding", "kubernetes-admin", code=201, uid="u1", node="n1"))
    entry = parse(json.dumps(event | {"impersonatedUser": {"username": SA}}))
    assert entry is not None
    assert entry.user == SA


def test_processes_of_a_shared_certificate_user_are_told_apart_by_certificate(line: Line) -> None:
    entry = parse(line("binding", "system:kube-scheduler", uid="u1", process="X509SHA256=abc"))
    assert entry is not None
    assert entry.process == "X509SHA256=abc"
    assert entry.who == "system:kube-scheduler"


@pytest.mark.parametrize(
    ("spec", "holder"), [({"holderIdentity": "cp_1"}, "cp_1"), ({"holderIdentity": ""}, ""), ({"renewTime": "x"}, "")]
)
def test_a_lease_update_tells_the_holder_also_when_it_is_given_up(line: Line, spec: Any, holder: str) -> None:
    entry = parse(line("lease", SA, name="kube-scheduler", body={"spec": spec}))
    assert isinstance(entry, LeaseUpdate)
    assert entry.holder == holder


def test_a_status_patch_tells_the_conditions(line: Line) -> None:
    body = {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}
    entry = parse(line("status", SA, body=body))
    assert isinstance(entry, StatusPatch)
    assert entry.conditions == ("PodScheduled=False Unschedulable",)


def test_kubelets_status_patches_and_other_requests_are_left_out(line: Line) -> None:
    assert parse(line("status", "system:node:n1")) is None
    assert parse(line("list", SA, code=403)) is None
    assert isinstance(parse(line("delete", SA)), Deletion)


@pytest.mark.parametrize(
    "text", ["", "half a li", "[]", "{}", '{"kind": "Event"}', '{"kind": "Pod", "stage": "x"}', "7"]
)
def test_a_line_that_is_no_audit_event_is_told(text: str) -> None:
    with pytest.raises(NotAnEntry):
        parse(text)


@pytest.mark.usefixtures("node")
class TestTail:
    """Reading a file in a node."""

    def read(self, tail: Tail) -> list[str]:
        return list(tail.lines())

    def test_only_what_is_new_is_read_and_half_a_line_is_kept_for_next_time(self, log: Path) -> None:
        log.write_text("old\n")
        tail = Tail("cp", str(log))
        tail.skip()
        assert self.read(tail) == []
        log.write_text("old\none\ntwo\nthr")
        assert self.read(tail) == ["one", "two"]
        with log.open("a") as file:
            file.write("ee\n")
        assert self.read(tail) == ["three"]

    def test_characters_of_several_bytes_do_not_move_the_offset(self, log: Path) -> None:
        tail = Tail("cp", str(log))
        log.write_text("grüße \x85 日本\n")
        assert self.read(tail) == ["grüße \x85 日本"]
        with log.open("a") as file:
            file.write("next\n")
        assert self.read(tail) == ["next"]

    def test_a_rotated_file_is_read_to_its_end_before_the_new_one(self, log: Path) -> None:
        log.write_text("one\n")
        tail = Tail("cp", str(log))
        assert self.read(tail) == ["one"]
        with log.open("a") as file:
            file.write("two\n")
        log.rename(log.with_name("audit-2026-12-01T16-00-00.000.log"))
        log.write_text("three\n")
        assert self.read(tail) == ["two", "three"]
        assert tail.lost == 0

    def test_a_rotated_file_that_was_read_to_its_end_is_not_read_again(self, log: Path) -> None:
        log.write_text("one\n")
        tail = Tail("cp", str(log))
        assert self.read(tail) == ["one"]
        log.rename(log.with_name("audit-1.log"))
        log.write_text("two and much longer than the first one was\n")
        assert self.read(tail) == ["two and much longer than the first one was"]

    def test_a_file_that_was_rotated_away_counts_as_loss(self, log: Path) -> None:
        log.write_text("one\n")
        tail = Tail("cp", str(log))
        assert self.read(tail) == ["one"]
        log.rename(log.parent.parent / "elsewhere.log")
        log.write_text("two\n")
        assert self.read(tail) == ["two"]
        assert tail.lost == 1

    def test_a_file_that_was_cut_is_read_from_its_start_and_counts_as_loss(self, log: Path) -> None:
        log.write_text("a long first line\n")
        tail = Tail("cp", str(log))
        assert self.read(tail) == ["a long first line"]
        with log.open("r+") as file:
            file.truncate(0)
            file.write("new\n")
        assert self.read(tail) == ["new"]
        assert tail.lost == 1

    def test_a_big_addition_is_read_in_pieces(self, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("schedproof.binder.tail.PIECE", 10)
        tail = Tail("cp", str(log))
        log.write_text("one\ntwo\nthree\nfour\n")
        assert self.read(tail) == ["one", "two", "three", "four"]

    def test_a_log_that_is_not_there_is_an_error_of_the_harness(self, log: Path) -> None:
        log.unlink()
        with pytest.raises(ClusterError, match="writes no audit log"):
            Tail("cp", str(log)).skip()


def test_the_log_is_followed_from_now_on(log: Path, audit: AuditLog, line: Line) -> None:
    log.write_text(log.read_text() + line("binding", SA, uid="u1", code=201, node="n1") + "\nrubbish\n")
    audit.read()
    assert [entry.uid for entry in audit.bindings()] == ["u1"]
    assert audit.bindings("another") == []
    assert audit.unknown == 1


@pytest.mark.usefixtures("node")
def test_what_was_logged_before_counts_only_if_asked_for(log: Path, facts: Facts, line: Line) -> None:
    log.write_text(line("binding", SA, uid="u1", code=201) + "\n")
    later, all_of_it = AuditLog(facts), AuditLog(facts, from_start=True)
    later.read()
    all_of_it.read()
    assert (len(later.bindings()), len(all_of_it.bindings())) == (0, 1)


def test_catching_up_waits_for_a_marker_of_our_own(server: Any, log: Path, audit: AuditLog, line: Line) -> None:
    log.write_text(line("binding", SA, uid="u1", code=201) + "\n")
    audit.catch_up()
    assert len(audit.bindings("u1")) == 1
    assert "delete" in server.verbs()
    assert audit.deletions("default") == []  # the marker is nobody's deletion


def test_a_log_that_never_shows_the_marker_is_an_error_of_the_harness(server: Any, audit: AuditLog) -> None:
    server.told = lambda *_args, **_more: None
    with pytest.raises(ApiError, match="audit policy leaves out deletions of pods"):
        audit.catch_up(Deadline("AUDIT", 0.1, "a test"))


def test_repeated_renewals_of_a_lease_are_kept_once(log: Path, audit: AuditLog, line: Line) -> None:
    def renewed(holder: str) -> str:
        return line(
            "lease", SA, namespace="kube-system", name="kube-scheduler", body={"spec": {"holderIdentity": holder}}
        )

    log.write_text("\n".join([renewed("a")] * 5 + [renewed("b")] * 5 + [renewed("a"), ""]))
    audit.read()
    assert [update.holder for update in audit.leases("kube-system", "kube-scheduler")] == ["a", "b", "a"]


def test_logs_of_several_control_planes_are_put_in_order(log: Path, facts: Facts, line: Line, node: Path) -> None:
    other = log.with_name("other.log")
    other.touch()
    node.write_text(OTHER.format(other=other))
    audit = AuditLog(replace(facts, control_planes=("cp", "cp2")))
    first, second, third = (line("binding", SA, uid=uid, code=201) for uid in "abc")
    log.write_text(f"{first}\n{third}\n")
    other.write_text(f"{second}\n")
    audit.read()
    assert [entry.uid for entry in audit.bindings()] == ["a", "b", "c"]


def test_entries_for_the_evidence_are_the_lines_themselves(log: Path, audit: AuditLog, line: Line) -> None:
    text = line("list", SA, code=403)
    log.write_text(f"{text}\nrubbish\n")
    audit.read()
    assert list(audit.entries()) == [json.loads(text)]
    assert list(audit.entries()) == [json.loads(text)]


def test_a_log_that_lost_lines_proves_nothing_and_says_so_once(audit: AuditLog, log: Path, note: Any) -> None:
    note("x" * 5000)
    audit.read()
    log.write_text("")  # cut in place
    with pytest.raises(ApiError, match="lines of it were lost"):
        audit.catch_up()
    audit.catch_up()
