"""A small API server of our own on this machine: a store, lists, watches, and faults on demand."""

from __future__ import annotations

import copy
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from schedproof.api import Api, Object

RESOURCES = {
    "/api/v1": [
        ("pods", "Pod", True),
        ("events", "Event", True),
        ("nodes", "Node", False),
        ("serviceaccounts", "ServiceAccount", True),
        ("namespaces", "Namespace", False),
    ],
    "/apis/apps/v1": [("deployments", "Deployment", True)],
    "/apis/coordination.k8s.io/v1": [("leases", "Lease", True)],
}


@dataclass(frozen=True)
class Call:
    """A request as it arrived; ``verb`` is list, watch, get, create, patch, delete or discover."""

    verb: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Fault:
    """What goes wrong with the next ``times`` requests of a verb."""

    verb: str
    times: int
    code: int = 0
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    action: str = "answer"  # answer, drop (no answer), lost (done, but no answer), silent, cut, error-event


class Server(ThreadingHTTPServer):
    """The store and its clients."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.calls: list[Call] = []
        self.faults: list[Fault] = []
        self.on_watch: list[Callable[[], None]] = []
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.history: list[tuple[int, str, str, Object]] = []
        self.changed = threading.Condition()
        self.closing = threading.Event()
        self._versions = itertools.count(100)
        self.version = next(self._versions)
        self.raw: dict[str, tuple[int, str]] = {}
        self.told: Callable[..., None] = lambda *_args, **_more: None

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves a watch is no error."""

    def put(self, obj: Object) -> Object:
        """Create or change an object as a controller would, and tell the watchers."""
        obj = copy.deepcopy(obj)
        meta = obj["metadata"]
        plural = next(p for resources in RESOURCES.values() for p, kind, _ in resources if kind == obj["kind"])
        key = (plural, meta.get("namespace", ""), meta["name"])
        with self.changed:
            self.version = next(self._versions)
            known = self.objects.get(key)
            meta.setdefault("creationTimestamp", _now())
            meta.setdefault("uid", known["metadata"]["uid"] if known else f"uid-{self.version}")
            meta["resourceVersion"] = str(self.version)
            if obj["kind"] == "Pod":
                obj.setdefault("spec", {})
                obj.setdefault("status", {"phase": "Pending"})
            self.objects[key] = obj
            self.history.append((self.version, "MODIFIED" if known else "ADDED", plural, copy.deepcopy(obj)))
            self.changed.notify_all()
        return copy.deepcopy(obj)

    def remove(self, plural: str, namespace: str, name: str) -> None:
        with self.changed:
            self.version = next(self._versions)
            obj = self.objects.pop((plural, namespace, name))
            obj["metadata"]["resourceVersion"] = str(self.version)
            self.history.append((self.version, "DELETED", plural, obj))
            self.changed.notify_all()

    def pod(self, name: str, *, node: str = "", namespace: str = "ns", **status: Any) -> Object:
        """Put a pod, bound to ``node`` if given."""
        known = self.objects.get(("pods", namespace, name), {})
        spec = {"schedulerName": "my-scheduler", **known.get("spec", {}), **({"nodeName": node} if node else {})}
        labels = {"app": name.split("-", maxsplit=1)[0]}
        return self.put(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {**known.get("metadata", {}), "name": name, "namespace": namespace, "labels": labels},
                "spec": spec,
                "status": {"phase": "Pending", **status},
            }
        )

    def fault(self, verb: str, times: int = 1, **how: Any) -> None:
        self.faults.append(Fault(verb, times, **how))

    def bind(self, name: str, node: str, user: str, *, process: str = "", namespace: str = "ns") -> int:
        """Bind a pod as an API server does, with its line in the audit log; return the code."""
        pod = self.objects[("pods", namespace, name)]
        code = 409 if pod["spec"].get("nodeName") else 201
        where = {"namespace": namespace, "name": name, "uid": pod["metadata"]["uid"]}
        self.told("binding", user, code=code, node=node, process=process, **where)
        if code == 201:
            self.pod(name, node=node, namespace=namespace)
        return code

    def event(self, name: str, reporter: str, reason: str = "Scheduled", *, namespace: str = "ns") -> None:
        """Report an event about a pod."""
        uid = self.objects[("pods", namespace, name)]["metadata"]["uid"]
        meta = {"name": f"{name}.{self.version}", "namespace": namespace, "creationTimestamp": "2026-12-01T16:00:00Z"}
        about = {"kind": "Pod", "name": name, "namespace": namespace, "uid": uid}
        parts = {"involvedObject": about, "reason": reason, "reportingComponent": reporter, "message": "said so"}
        self.put({"apiVersion": "v1", "kind": "Event", "metadata": meta, "type": "Normal", **parts})

    def verbs(self) -> list[str]:
        """Verbs of all calls so far, discovery left out."""
        return [call.verb for call in self.calls if call.verb != "discover"]


class Handler(BaseHTTPRequestHandler):
    """One connection to it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the acknowledgement of its headers
    server: Server

    def log_message(self, *args: Any) -> None:
        """Be silent."""

    def _serve(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        length = int(self.headers.get("Content-Length") or 0)
        body: Any = json.loads(self.rfile.read(length)) if length else None
        verb, plural, namespace, name = self._place(url.path, query)
        self.server.calls.append(Call(verb, self.command, url.path, query, dict(self.headers), body))
        fault = next((f for f in self.server.faults if f.verb == verb and f.times > 0), None)
        if fault is not None:
            fault.times -= 1
            if fault.action == "drop":
                self.close_connection = True
                return
            if fault.action == "answer":
                self._status(fault.code, fault.message, fault.headers)
                return
        match verb:
            case "raw":
                code, text = self.server.raw[url.path]
                self._answer(code, text.encode())
            case "discover":
                self._discover(url.path)
            case "list":
                self._list(plural, namespace, query)
            case "watch":
                self._watch(plural, namespace, query, fault)
            case "get":
                self._found(plural, namespace, name, lambda obj: self._json(200, obj))
            case "create":
                self._create(plural, namespace, body, query, fault)
            case "patch":
                self._found(plural, namespace, name, lambda obj: self._json(200, self.server.put(obj | (body or {}))))
            case "delete":
                self.server.told("delete", "kubernetes-admin", namespace=namespace, name=name)
                self._found(plural, namespace, name, lambda obj: self._deleted(plural, namespace, name, obj))

    do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _place(self, path: str, query: dict[str, str]) -> tuple[str, str, str, str]:
        if path in self.server.raw:
            return "raw", "", "", ""
        root = next((root for root in RESOURCES if path.startswith(root + "/")), "")
        parts = path.removeprefix(root).strip("/").split("/") if root else []
        if not parts:
            return "discover", "", "", ""
        namespace = parts[1] if parts[0] == "namespaces" and len(parts) > 2 else ""
        parts = parts[2:] if namespace else parts
        name = parts[1] if len(parts) > 1 else ""
        if len(parts) > 2:
            return parts[2], parts[0], namespace, name
        verbs = {"GET": "get" if name else "list", "POST": "create", "PATCH": "patch", "DELETE": "delete"}
        return "watch" if query.get("watch") else verbs[self.command], parts[0], namespace, name

    def _discover(self, path: str) -> None:
        if path not in RESOURCES:
            self._status(404, "the server could not find the requested resource")
            return
        resources = [{"name": plural, "kind": kind, "namespaced": spaced} for plural, kind, spaced in RESOURCES[path]]
        self._json(200, {"resources": [*resources, {"name": "pods/log", "kind": "Pod", "namespaced": True}]})

    def _list(self, plural: str, namespace: str, query: dict[str, str]) -> None:
        with self.server.changed:
            items = [
                {field: value for field, value in obj.items() if field not in ("kind", "apiVersion")}
                for key, obj in self.server.objects.items()
                if key[0] == plural and _selected(obj, namespace, query)
            ]
            version = str(self.server.version)
        self._json(200, {"kind": "List", "metadata": {"resourceVersion": version}, "items": items})

    def _watch(self, plural: str, namespace: str, query: dict[str, str], fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while self.server.on_watch:
            self.server.on_watch.pop(0)()
        if fault is not None and fault.action == "silent":
            self.server.closing.wait()
            self.close_connection = True
            return
        if fault is not None and fault.action == "error-event":
            status = {"kind": "Status", "code": fault.code, "message": fault.message, "reason": "Expired"}
            self._chunk({"type": "ERROR", "object": status})
            self._chunk(None)
            return
        after = int(query["resourceVersion"])
        while not self.server.closing.is_set():
            with self.server.changed:
                fresh = [entry for entry in self.server.history if entry[0] > after]
                if not fresh:
                    if fault is not None and fault.action == "end":
                        break
                    self.server.changed.wait(0.5)
            for version, kind, changed, obj in fresh:
                after = version
                if changed == plural and _selected(obj, namespace, query):
                    self._chunk({"type": kind, "object": obj})
                    if fault is not None and fault.action == "cut":
                        self.close_connection = True
                        self.connection.close()
                        return
        self._chunk(None)

    def _create(self, plural: str, namespace: str, body: Any, query: dict[str, str], fault: Fault | None) -> None:
        meta = body["metadata"]
        if (plural, namespace, meta["name"]) in self.server.objects:
            self._status(409, f'{plural} "{meta["name"]}" already exists', reason="AlreadyExists")
            return
        meta = {**meta, "namespace": namespace, "managedFields": [{"manager": query["fieldManager"]}]}
        made = self.server.put({**body, "metadata": meta})
        if fault is not None and fault.action == "lost":
            self.close_connection = True
            return
        self._json(201, made)

    def _deleted(self, plural: str, namespace: str, name: str, obj: Object) -> None:
        self.server.remove(plural, namespace, name)
        self._json(200, obj)

    def _found(self, plural: str, namespace: str, name: str, then: Callable[[Object], None]) -> None:
        obj = self.server.objects.get((plural, namespace, name))
        if obj is None:
            self._status(404, f'{plural} "{name}" not found', reason="NotFound")
        else:
            then(obj)

    def _status(self, code: int, message: str, headers: dict[str, str] | None = None, reason: str = "") -> None:
        self._json(code, {"kind": "Status", "code": code, "message": message, "reason": reason}, headers)

    def _json(self, code: int, obj: Object, headers: dict[str, str] | None = None) -> None:
        self._answer(code, json.dumps(obj).encode(), headers)

    def _answer(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _chunk(self, obj: Object | None) -> None:
        data = json.dumps(obj).encode() + b"\n" if obj is not None else b""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def _selected(obj: Object, namespace: str, query: dict[str, str]) -> bool:
    if namespace and obj["metadata"].get("namespace") != namespace:
        return False
    for pair in filter(None, query.get("labelSelector", "").split(",")):
        label, value = pair.split("=")
        if obj["metadata"].get("labels", {}).get(label) != value:
            return False
    for pair in filter(None, query.get("fieldSelector", "").split(",")):
        path, value = pair.split("=")
        found: Any = obj
        for part in path.split("."):
            found = found.get(part, {})
        if found != value:
            return False
    return True


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: here, user: me}}}}]
clusters: [{{name: here, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
users: [{{name: me, user: {{token: a-token}}}}]
"""


@pytest.fixture
def server() -> Iterator[Server]:
    """An API server that runs."""
    running = Server()
    thread = threading.Thread(target=lambda: running.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    yield running
    running.closing.set()
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture
def kubeconfig(server: Server, tmp_path: Path) -> Path:
    """A kubeconfig for it."""
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG.format(port=server.server_port))
    return path


@pytest.fixture
def api(kubeconfig: Path) -> Api:
    """A client of it."""
    return Api(kubeconfig)
