"""The audit log of the small API server, in a node that is this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schedproof.binder.audit import AuditLog
from schedproof.cluster.facts import Facts


def audit_line(
    what: str,
    user: str,
    *,
    code: int = 200,
    namespace: str = "ns",
    name: str = "pod1",
    uid: str = "",
    node: str = "",
    process: str = "",
    body: Any = None,
    at: datetime | None = None,
) -> str:
    """Return a line of an audit log as a kube-apiserver v1.37.2 writes it, cut to what matters here."""
    resource, subresource, verb = {
        "binding": ("pods", "binding", "create"),
        "delete": ("pods", "", "delete"),
        "lease": ("leases", "", "update"),
        "status": ("pods", "status", "patch"),
        "list": ("storageclasses", "", "list"),
    }[what]
    if what == "binding" and body is None:
        body = {"kind": "Binding", "metadata": {"name": name, "uid": uid}, "target": {"kind": "Node", "name": node}}
    about = {"resource": resource, "namespace": namespace, "name": name, "apiVersion": "v1"}
    about |= {"uid": uid} if uid else {}
    about |= {"subresource": subresource} if subresource else {}
    key = "credential-id" if process.startswith("X509") else "pod-name"
    extra = {f"authentication.kubernetes.io/{key}": [process]} if process else {}
    moment = (at or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user, "groups": ["system:authenticated"], "extra": extra},
        "userAgent": "kube-scheduler/v1.37.2 (linux/amd64) kubernetes/unknown/scheduler",
        "objectRef": about,
        "responseStatus": {"metadata": {}, "code": code, "message": "no" if code >= 400 else ""},
        "requestReceivedTimestamp": moment,
        "stageTimestamp": moment,
    }
    return json.dumps(event | ({"requestObject": body} if body is not None else {}))


@pytest.fixture
def line() -> Callable[..., str]:
    """Make a line of an audit log."""
    return audit_line


IN_NODE = """#!/bin/sh
[ "$1" = exec ] || exit 97
shift 2
exec "$@"
"""


@pytest.fixture
def node(guarded: Path) -> Path:
    """A fake engine whose node is this machine: ``docker exec NODE PROGRAM`` runs the program here (in sh: quick)."""
    path = guarded / "docker"
    path.write_text(IN_NODE)
    return path


@pytest.fixture
def facts(kubeconfig: Path) -> Facts:
    """A cluster of one control plane, ``cp``."""
    return Facts(
        name="c",
        kubeconfig=kubeconfig,
        kind=None,
        kubectl=Path("kubectl"),
        kubernetes="v1.37.2",
        node_image="",
        control_planes=("cp",),
        workers=("n1", "n2"),
        pause_image="pause",
        scheduler_image="",
        scheduler_image_id="",
        scheduler_version="",
    )


@pytest.fixture
def log(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the API server writes its audit log to."""
    path = tmp_path / "node-log" / "audit.log"
    path.parent.mkdir()
    path.touch()
    server.told = lambda what, user, **more: _add(path, audit_line(what, user, **more))
    monkeypatch.setattr("schedproof.binder.audit.AUDIT_LOG", str(path))
    return path


@pytest.fixture
def note(log: Path) -> Callable[[str], None]:
    """Add a line to the audit log."""
    return lambda text: _add(log, text)


def _add(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text + "\n")


@pytest.fixture
def audit(facts: Facts, log: Path, node: Any) -> AuditLog:  # noqa: ARG001 - the log exists, the node answers
    """The audit log as the product reads it."""
    return AuditLog(facts)
