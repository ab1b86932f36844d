"""The objects of a kind as they change: list, then watch from that list, until a fixed end whatever happens."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator

from schedproof.api import Api, Expired, Object
from schedproof.api.refusals import Unavailable

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between attempts to open a watch that keeps failing."""


class Following:
    """:meth:`snapshots` yields all current objects at first and after every change, until ``end``.

    A watch that ends, is cut or goes silent is taken up again from the last version seen, so that no change is passed
    over; 410 makes a new list. ``end`` never moves. A rule that is missing (403) is raised at once.

    Args:
        api: The API server.
        kind: Kind to follow.
        namespace: Empty: all namespaces.
        end: ``time.monotonic()`` at which to stop.
        labels: Label selector.
        fields: Field selector.

    Attributes:
        fault: The last transport fault, if the API server has not answered since: then what was yielded last is old.
    """

    def __init__(self, api: Api, kind: str, namespace: str, *, end: float, labels: str = "", fields: str = "") -> None:
        self._api, self._kind, self._namespace = api, kind, namespace
        self._labels, self._fields, self._end = labels, fields, end
        self._objects: dict[str, Object] = {}
        self._version = ""
        self._pause = FIRST_PAUSE
        self.fault: Unavailable | None = None

    def snapshots(self) -> Generator[list[Object], None, None]:
        """Yield snapshots; the first one as soon as the API server answers."""
        while self._version == "" or time.monotonic() < self._end:
            try:
                if self._version == "":
                    self._list()
                    yield list(self._objects.values())
                else:
                    yield from self._watch()
            except Unavailable as error:
                self.fault = error
                if self._version == "":
                    return  # the list was tried until the end
                self._rest()
        if self.fault is not None:
            # A stream that is silent at the end may just have nothing to tell: a last look knows.
            with contextlib.suppress(Unavailable):
                self._list()
                yield list(self._objects.values())

    def _list(self) -> None:
        left = max(0.0, self._end - time.monotonic())
        objects, version = self._api.list(
            self._kind, self._namespace, labels=self._labels, fields=self._fields, patience=left
        )
        self._version = version or "0"
        self.fault = None
        self._objects = {obj["metadata"]["uid"]: obj for obj in objects}

    def _watch(self) -> Generator[list[Object], None, None]:
        events = self._api.watch(
            self._kind,
            self._namespace,
            version=self._version,
            end=self._end,
            labels=self._labels,
            fields=self._fields,
        )
        opened = time.monotonic()
        try:
            with contextlib.closing(events):
                for event in events:
                    self.fault, self._pause = None, FIRST_PAUSE
                    self._version = event.object["metadata"]["resourceVersion"]
                    if event.type != "BOOKMARK":
                        self._take(event.type, event.object)
                        yield list(self._objects.values())
                    if time.monotonic() >= self._end:
                        return
        except Expired:
            self._version = ""
        self.fault = None
        if time.monotonic() - opened < LONGEST_PAUSE:
            self._rest()  # a server that ends every watch at once must not make us spin

    def _take(self, kind: str, obj: Object) -> None:
        if kind == "DELETED":
            self._objects.pop(obj["metadata"]["uid"], None)
        else:
            self._objects[obj["metadata"]["uid"]] = obj

    def _rest(self) -> None:
        """Pause before the next attempt; every further fault in a row doubles it."""
        threading.Event().wait(max(0.0, min(self._pause, self._end - time.monotonic())))
        self._pause = min(self._pause * 2, LONGEST_PAUSE)
