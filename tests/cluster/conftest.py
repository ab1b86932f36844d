"""A pretended engine: fake docker, kind and kubectl that share one state file, so that one shows what the other made.

The file holds a Python literal and the fakes import next to nothing: each call costs 10 ms, and there are hundreds.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from schedproof.cluster import ready
from schedproof.progress import progress
from schedproof.settings import Settings, settings

NODE_IMAGE = "schedproof/node:v1.37.2"
IMAGE_ID = "sha256:" + "a" * 64

COMMON = """#!{python} -IS
import os, sys
STATE = {state!r}
argv = sys.argv[1:]
def load():
    with open(STATE) as file:
        return eval(file.read())
def save(state):
    with open(STATE + ".new", "w") as file:
        file.write(repr(state))
    os.replace(STATE + ".new", STATE)
state = load()
state["calls"].append([{name!r}, *argv])
save(state)
def fail(text, code=1):
    print(text, file=sys.stderr)
    sys.exit(code)
"""

DOCKER = """
if state["engine"] == "down":
    fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
command = argv[0]
if command == "ps":
    label = next((word.split("=", 1)[1] for word in argv if word.startswith("label=")), "")
    cluster = label.partition("=")[2]
    found = [c for c in state["containers"] if not cluster or c["cluster"] == cluster]
    print("\\n".join(c["id"] if "--quiet" in argv else c["name"] for c in found))
elif command == "inspect":
    import json
    print(json.dumps([
        {"Name": "/" + c["name"], "Image": c["image"], "State": {"Status": c["status"]},
         "Config": {"Labels": {"io.x-k8s.kind.role": c["role"]}}}
        for c in state["containers"] if c["id"] in argv]))
elif command == "rm":
    state["containers"] = [c for c in state["containers"] if c["name"] not in argv]
    save(state)
elif command == "image":
    if argv[-1] not in state["images"]:
        fail("Error: No such image: " + argv[-1])
    print("linux/amd64" if "Architecture" in " ".join(argv) else state["images"][argv[-1]])
elif command == "images":
    print("\\n".join(f"{name}\\tdeadbeef\\t1.3GB" for name in state["images"] if name.startswith("schedproof/")))
elif command == "network":
    if not state["network"]:
        fail("Error: No such network: kind")
    if argv[1] == "rm":
        state["network"] = ""
        save(state)
    print(state["network"])
elif command == "save":
    import shutil
    shutil.copyfile(state["archive"], argv[argv.index("--output") + 1])
elif command == "exec":
    inside = [word for word in argv if not word.startswith("--inter")][2:]
    if "import" in inside:
        sys.stdin.buffer.read()
        state["loaded"].append(argv[2])
        save(state)
        if state["import_fails"]:
            fail(state["import_fails"])
    elif "inspecti" in inside:
        if argv[1] not in state["loaded"]:
            fail("no such image")
        import json
        print(json.dumps({"status": {"id": state["node_has"]}}))
    elif "images" in inside:
        import json
        print(json.dumps({"images": [{"repoTags": ["registry.k8s.io/pause:3.10.2"]}, {"repoTags": None}]}))
elif command == "logs":
    print(state["node_log"])
elif command == "rmi":
    del state["images"][argv[-1]]
    save(state)
"""

KIND = """
if argv == ["version"]:
    print(state["kind_version"])
elif argv[:2] == ["delete", "cluster"]:
    if state["engine"] == "down":
        fail("ERROR: failed to delete cluster: error listing nodes: Cannot connect to the Docker daemon")
    name = argv[argv.index("--name") + 1]
    if not state["delete_leaves"]:
        state["containers"] = [c for c in state["containers"] if c["cluster"] != name]
        save(state)
elif argv[:2] == ["create", "cluster"]:
    name = argv[argv.index("--name") + 1]
    say = lambda text: print(text, file=sys.stderr, flush=True)
    say("Creating cluster " + name + " ...")
    say(" • Preparing nodes 📦  ...")
    state["network"] = state["network"] or "network-1"
    for node, role in (("control-plane", "control-plane"), ("worker", "worker"), ("worker2", "worker")):
        state["containers"].append({"id": name + node, "name": name + "-" + node, "cluster": name,
            "role": role, "status": "running", "image": state["images"][argv[argv.index("--image") + 1]]})
    save(state)
    say(" • Starting control-plane 🕹️  ...")
    if state["hang"]:
        with open(state["hang"], "w") as pipe:   # opening a FIFO waits for its reader: the test knows that we are here
            pipe.write(str(os.getpid()))
        import signal
        signal.pause()
    if state["create_fails"]:
        state = load()
        state["engine"] = state["engine_after"]
        save(state)
        fail(state["create_fails"])
    if state["kubeconfig"]:
        with open(argv[argv.index("--kubeconfig") + 1], "w") as file:
            file.write("apiVersion: v1\\n")
"""


@dataclass
class Engine:
    """The state that the fakes share, and where they lie."""

    path: Path
    kind: Path
    kubectl: Path

    def __getitem__(self, key: str) -> Any:
        return ast.literal_eval(self.path.read_text())[key]

    def set(self, **values: Any) -> None:
        """Change what the fakes do from now on."""
        self.path.write_text(repr({**ast.literal_eval(self.path.read_text()), **values}))

    @property
    def names(self) -> list[str]:
        """Names of all containers."""
        return [each["name"] for each in self["containers"]]

    def calls(self, program: str, *words: str) -> list[list[str]]:
        """Arguments of the calls of a program that begin with these words."""
        return [call[1:] for call in self["calls"] if call[0] == program and call[1 : 1 + len(words)] == list(words)]

    def add_cluster(self, name: str, image: str = IMAGE_ID, status: str = "running") -> None:
        """Let a cluster of three nodes exist that nobody recorded."""
        nodes = (("control-plane", "control-plane"), ("worker", "worker"), ("worker2", "worker"))
        added = [
            {
                "id": name + node,
                "name": f"{name}-{node}",
                "cluster": name,
                "role": role,
                "status": status,
                "image": image,
            }
            for node, role in nodes
        ]
        self.set(containers=[*self["containers"], *added])


@pytest.fixture
def engine(guarded: Path, tmp_path: Path) -> Engine:
    state = tmp_path / "engine.state"
    start: dict[str, Any] = {
        "engine": "up",  # or "down"
        "engine_after": "up",  # what a failed creation leaves
        "images": {NODE_IMAGE: IMAGE_ID},
        "containers": [],
        "network": "",  # its id once there is one
        "kind_version": "kind v0.33.0 go1.26.8 linux/amd64",
        "create_fails": "",  # kind's last words
        "kubeconfig": True,  # whether kind writes one
        "hang": "",  # a FIFO: kind writes its pid to it and hangs
        "delete_leaves": False,  # whether kind's deletion leaves the containers
        "archive": "",  # what docker saves
        "loaded": [],  # nodes that took an image
        "node_has": "",  # id under which they have it
        "import_fails": "",
        "node_log": "",
        "calls": [],
    }
    state.write_text(repr(start))
    for name, body in (("docker", DOCKER), ("kind", KIND), ("kubectl", "")):
        path = guarded / name
        path.write_text(COMMON.format(python=sys.executable, state=str(state), name=name) + body)
        path.chmod(0o755)
    return Engine(state, guarded / "kind", guarded / "kubectl")


@pytest.fixture(autouse=True)
def _nodes_are_ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no API server in these tests."""
    monkeypatch.setattr(ready, "wait_until_nodes_ready", lambda kubeconfig, count: None)  # noqa: ARG005


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the run tells its reader."""
    told = io.StringIO()
    monkeypatch.setattr(progress, "console", Console(file=told, soft_wrap=True))
    return told


@pytest.fixture(autouse=True)
def _work_in(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    with contextlib.chdir(folder):
        yield folder


@pytest.fixture
def chosen() -> Settings:
    return settings({}, os.environ)


@pytest.fixture
def kept() -> Settings:
    return settings({"keep": True}, os.environ)
