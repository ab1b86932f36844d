"""The verbs of the API, on raw objects."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Generator, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal, NamedTuple

from schedproof.api.kinds import Kinds, Resource
from schedproof.api.refusals import Object, Refused, error_for
from schedproof.api.transport import PATIENCE, Query, Transport
from schedproof.errors import ApiError

MANAGER = "schedproof"
"""Field manager of what we apply."""
SILENCE = 10.0
"""Seconds without a byte after which a watch counts as lost and is opened again; costs one request."""

PatchType = Literal["merge", "strategic", "json", "apply"]
_PATCHES: Mapping[PatchType, str] = {
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Event(NamedTuple):
    """One event of a watch: ``ADDED``, ``MODIFIED``, ``DELETED`` or ``BOOKMARK``, and the object as it then was."""

    type: str
    object: Object


class Api:
    """One cluster's API, as the user of a kubeconfig.

    ``kind`` is a bare kind (``Pod``, ``Deployment``) or one with its apiVersion (``apps/v1/Deployment``). Transport
    faults, 429 and 5xx are retried for :data:`~schedproof.api.transport.PATIENCE` seconds. Any other refusal is a
    :class:`~schedproof.api.refusals.Refused` (:class:`~schedproof.api.refusals.Forbidden` names the missing rule).

    Args:
        kubeconfig: Only read.
        user: Act as this user (impersonation), e.g. ``system:serviceaccount:NAMESPACE:NAME``.
        groups: Groups of that user.
    """

    def __init__(self, kubeconfig: Path, *, user: str = "", groups: Sequence[str] = ()) -> None:
        self.kubeconfig = kubeconfig
        self.silence = SILENCE
        headers = [("Impersonate-User", user)] if user else []
        headers += [("Impersonate-Group", group) for group in groups]
        self._transport = Transport(kubeconfig, headers)
        self._kinds = Kinds(lambda path: self._json("GET", path))

    def get(self, kind: str, name: str, namespace: str = "") -> Object | None:
        """Return an object, or None when there is none."""
        try:
            return self._json("GET", self._kinds.find(kind).path(namespace, name))
        except Refused as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return None
            raise

    def list(
        self, kind: str, namespace: str = "", *, labels: str = "", fields: str = "", patience: float = PATIENCE
    ) -> tuple[list[Object], str]:
        """Return the objects and the resourceVersion of the list, to watch from.

        Args:
            kind: Kind to list.
            namespace: Empty: all namespaces.
            labels: Label selector, as ``kubectl -l`` takes it.
            fields: Field selector, e.g. ``metadata.name=pod1``.
            patience: Seconds over which transport faults are retried.
        """
        resource = self._kinds.find(kind)
        answer = self._json("GET", resource.path(namespace), query=_selectors(labels, fields), patience=patience)
        objects = answer.get("items") or []
        for item in objects:  # a list leaves out what every item would repeat
            item.setdefault("apiVersion", resource.api_version)
            item.setdefault("kind", resource.kind)
        return objects, str(answer.get("metadata", {}).get("resourceVersion", ""))

    def watch(
        self,
        kind: str,
        namespace: str = "",
        *,
        version: str,
        end: float,
        labels: str = "",
        fields: str = "",
    ) -> Generator[Event, None, None]:
        """Yield what happens after ``version``, each event the moment it arrives, until ``end`` or earlier.

        ``end`` is a ``time.monotonic()``; a server that ends the watch in good order just ends the events.

        Raises:
            Expired: 410, as an answer or as an event: list again.
            Unavailable: Not opened, cut, or silent for :data:`SILENCE` seconds: go on from the last version seen.
            Forbidden: The rule ``watch`` is missing.
        """
        path = self._kinds.find(kind).path(namespace)
        query = [
            *_selectors(labels, fields),
            ("watch", "true"),
            ("resourceVersion", version),
            ("allowWatchBookmarks", "true"),
            ("timeoutSeconds", str(max(1, math.ceil(end - time.monotonic())))),
        ]
        with self._transport.lines(path, query, silence=self.silence, end=end) as lines:
            for line in lines:
                event = _parsed(f"GET {path} (watch)", line)
                if event.type == "ERROR":
                    code = int(event.object.get("code") or 500)
                    raise error_for(f"GET {path} (watch)", code, json.dumps(event.object).encode())
                yield event

    def create(self, obj: Object, namespace: str = "") -> Object:
        """Create an object (in ``namespace`` unless it names its own) and return it as the server made it.

        Raises:
            Refused: The server refused it, e.g. 409 when there is one of that name, 422 when it is invalid.
        """
        resource, path = self._place(obj, namespace)
        # When the answer to a first try got lost, the second is told that the object exists: this name, given to no
        # other create, tells ours from somebody else's.
        once = f"{MANAGER}-{os.urandom(4).hex()}"
        try:
            return self._json("POST", path, query=[("fieldManager", once)], body=obj)
        except Refused as error:
            ours = self._made_by(once, resource, obj, namespace) if error.code == HTTPStatus.CONFLICT else None
            if ours is None:
                raise
            return ours

    def apply(self, obj: Object, namespace: str = "") -> Object:
        """Apply an object on the server's side: it is created, or changed where it differs."""
        _, path = self._place(obj, namespace, named=True)
        query = [("fieldManager", MANAGER), ("force", "true")]
        return self._json("PATCH", path, query=query, body=obj, content=_PATCHES["apply"])

    def patch(
        self,
        kind: str,
        name: str,
        patch: Object | Sequence[Object],
        namespace: str = "",
        *,
        how: PatchType = "merge",
        subresource: str = "",
    ) -> Object:
        """Change an object; ``patch`` is a merge patch unless ``how`` says otherwise ("json" takes a list)."""
        path = self._kinds.find(kind).path(namespace, name, subresource)
        return self._json("PATCH", path, query=[("fieldManager", MANAGER)], body=patch, content=_PATCHES[how])

    def delete(
        self, kind: str, name: str, namespace: str = "", *, grace: int | None = None, propagation: str = "Background"
    ) -> bool:
        """Ask for an object's deletion without waiting for its end; return whether it was there.

        Args:
            kind: Kind of the object.
            name: Its name.
            namespace: Its namespace.
            grace: Seconds a pod gets to end; 0 removes it at once; None leaves it to the pod.
            propagation: What becomes of what it owns: ``Background``, ``Foreground`` or ``Orphan``.
        """
        body: Object = {"propagationPolicy": propagation}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            self._transport.ask("DELETE", self._kinds.find(kind).path(namespace, name), body=body)
        except Refused as error:
            if error.code == HTTPStatus.NOT_FOUND:
                return False
            raise
        return True

    def bind(self, pod: Object, node: str) -> None:
        """Bind a pod to a node as a scheduler does, by a ``pods/binding`` create.

        Raises:
            Refused: E.g. 409 when it is bound already.
        """
        meta = pod["metadata"]
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        path = self._kinds.find("Pod").path(meta["namespace"], meta["name"], "binding")
        self._transport.ask("POST", path, body=binding)

    def logs(
        self, pod: str, namespace: str, *, container: str = "", previous: bool = False, tail: int | None = None
    ) -> str:
        """Return a container's log, UTF-8; the last ``tail`` lines of it, or all.

        Raises:
            Refused: E.g. 400 while the container has not started.
        """
        query = [("container", container)] if container else []
        query += [("previous", "true")] if previous else []
        query += [("tailLines", str(tail))] if tail is not None else []
        path = self._kinds.find("Pod").path(namespace, pod, "log")
        return self._transport.ask("GET", path, query=query).decode(errors="replace")

    def get_raw(self, path: str, query: Query = ()) -> str:
        """Return what a path answers, as text (``/readyz?verbose``, ``/metrics``, a pod's proxy).

        Raises:
            Refused: Any answer of 400 and above with its code, 5xx too: behind a proxy path it may be the pod's own.
        """
        return self._transport.ask("GET", path, query=query, retry_answers=False).decode(errors="replace")

    def post_raw(self, path: str, body: Object) -> Object:
        """Post an object to a path, e.g. to a subresource such as ``.../serviceaccounts/NAME/token``."""
        return self._json("POST", path, body=body)

    def version(self) -> str:
        """Return the API server's version, e.g. ``v1.37.2``."""
        return str(self._json("GET", "/version").get("gitVersion", "unknown"))

    def path(self, kind: str, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """Return the path of a kind's objects, of one of them, or of its subresource."""
        return self._kinds.find(kind).path(namespace, name, subresource)

    def _place(self, obj: Object, namespace: str, *, named: bool = False) -> tuple[Resource, str]:
        resource = self._kinds.find(f"{obj['apiVersion']}/{obj['kind']}")
        meta = obj["metadata"]
        home = meta.get("namespace") or namespace or "default"
        return resource, resource.path(home, meta["name"] if named else "")

    def _made_by(self, manager: str, resource: Resource, obj: Object, namespace: str) -> Object | None:
        name = obj["metadata"].get("name")
        if not name:
            return None
        home = obj["metadata"].get("namespace") or namespace or "default"
        there = self.get(f"{resource.api_version}/{resource.kind}", name, home)
        entries = (there or {}).get("metadata", {}).get("managedFields") or []
        return there if any(entry.get("manager") == manager for entry in entries) else None

    def _json(
        self,
        method: str,
        path: str,
        *,
        query: Query = (),
        body: Any = None,
        content: str = "application/json",
        patience: float = PATIENCE,
    ) -> Object:
        answer = self._transport.ask(method, path, query=query, body=body, content=content, patience=patience)
        return _object(f"{method} {path}", answer)


def _selectors(labels: str, fields: str) -> list[tuple[str, str]]:
    return [pair for pair in (("labelSelector", labels), ("fieldSelector", fields)) if pair[1]]


def _object(request: str, answer: bytes) -> Object:
    try:
        parsed = json.loads(answer)
    except ValueError as error:
        raise ApiError(f"{request} is answered with JSON", seen=answer[:300].decode(errors="replace")) from error
    if not isinstance(parsed, dict):
        raise ApiError(f"{request} is answered with an object", seen=str(parsed)[:300])
    return parsed


def _parsed(request: str, line: bytes) -> Event:
    event = _object(request, line)
    if not isinstance(event.get("type"), str) or not isinstance(event.get("object"), dict):
        raise ApiError(f"{request} sends events", seen=line[:300].decode(errors="replace"))
    return Event(event["type"], event["object"])
