"""A fake engine with a memory: images by name, what was asked of it, and what a container prints when it is started."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schedproof.images import engine

BODY = """
import pathlib
place = pathlib.Path({state!r})
state = json.loads(place.read_text())
def refuse(text, code=1):
    print(text, file=sys.stderr)
    sys.exit(code)
def known(ref):
    return state["images"].get(ref) or next((i for i in state["images"].values() if i["Id"] == ref), None)
match argv:
    case ["image", "inspect", ref]:
        if known(ref) is None:
            print("[]")
            refuse("Error response from daemon: No such image: " + ref)
        print(json.dumps([known(ref)]))
    case ["pull", ref]:
        if ref not in state["pullable"]:
            refuse(state["refusal"])
        state["images"][ref] = state["pullable"][ref]
    case ["import", _, ref]:
        state["images"][ref] = {{"Id": "sha256:base", "Config": {{}}}}
    case ["run", *_]:
        print(state["run"])
    case ["start", *_]:
        if state["start"] is None:
            refuse("containerd: no space left on device")
        print(state["start"])
    case ["commit", *changes, _, ref]:
        pairs = [c.split(" ", 1)[1].split("=", 1) for c in changes if c.startswith("--change=LABEL")]
        labels = {{name: value.strip('"') for name, value in pairs}}
        state["images"][ref] = {{"Id": "sha256:new", "Config": {{"Labels": labels}}}}
place.write_text(json.dumps(state))
"""


class Engine:
    """What the test tells the fake engine, and what it was asked."""

    def __init__(self, state: Path, program: Any) -> None:
        self._state, self._program = state, program
        state.write_text(
            json.dumps({"images": {}, "pullable": {}, "refusal": "manifest unknown", "run": "", "start": ""})
        )

    @property
    def calls(self) -> list[list[str]]:
        """Arguments of every call so far."""
        return list(self._program.calls)

    def said(self, verb: str) -> list[list[str]]:
        """Return the calls that begin with this word."""
        return [call for call in self.calls if call[0] == verb]

    def has(self, ref: str, *, image_id: str = "sha256:old", **labels: str) -> None:
        """Put an image into it; a label ``schedproof.node.recipe`` is given as ``recipe``."""
        named = {f"schedproof.node.{name}": value for name, value in labels.items()}
        self._put("images", {**self._get()["images"], ref: {"Id": image_id, "Config": {"Labels": named}}})

    def can_pull(self, ref: str, **labels: str) -> None:
        """Let it pull an image."""
        named = {f"schedproof.node.{name}": value for name, value in labels.items()}
        self._put("pullable", {ref: {"Id": "sha256:pulled", "Config": {"Labels": named}}})

    def refuses_pulls(self, words: str) -> None:
        """Let every other pull fail with these words."""
        self._put("refusal", words)

    def container_prints(self, *, run: str = "", start: str | None = "") -> None:
        """Set what containers print; ``start=None`` lets starting fail."""
        self._put("run", run)
        self._put("start", start)

    def _get(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self._state.read_text())
        return state

    def _put(self, name: str, value: Any) -> None:
        self._state.write_text(json.dumps({**self._get(), name: value}))


@pytest.fixture
def fake_engine(fake: Any, tmp_path: Path) -> Iterator[Engine]:
    """Return the fake engine; nothing is remembered of registries from the test before."""
    engine.forget_unreachable()
    state = tmp_path / "engine.json"
    yield Engine(state, fake("docker", BODY.format(state=str(state))))
    engine.forget_unreachable()
