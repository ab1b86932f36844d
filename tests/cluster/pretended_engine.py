"""A pretended docker and kind that share one state file, so that one shows what the other made.

As scripts on PATH they are real processes; most tests run them in the test's own process, which is 20 times quicker.
"""

from __future__ import annotations

import ast
import fcntl
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

START: dict[str, Any] = {
    "engine": "up",  # or "down"
    "engine_after": "up",  # what a failed creation leaves
    "images": {"schedproof/node:v1.37.2": "sha256:" + "a" * 64},
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
    "not_in_node": "",  # of what `grep` and `test` in a node find nothing
    "node_log": "",
    "calls": [],
}

NODES = (("control-plane", "control-plane"), ("worker", "worker"), ("worker2", "worker"))


class Failed(Exception):  # noqa: N818 - says what happened
    """The program ends with exit code 1 and these words."""


class State:
    """The shared state: a Python literal in a file, changed under a lock."""

    def __init__(self, path: str) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        """Return the state."""
        with open(self.path) as file:  # noqa: PTH123 - pathlib costs a script 5 ms
            state: dict[str, Any] = ast.literal_eval(file.read())
        return state

    def change(self, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Change the state by a function and return it."""
        with open(self.path + ".lock", "w") as lock:  # noqa: PTH123
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self.read()
            change(state)
            with open(self.path + ".new", "w") as file:  # noqa: PTH123
                file.write(repr(state))
            os.replace(self.path + ".new", self.path)  # noqa: PTH105
        return state

    def set(self, **values: Any) -> None:
        """Change what the programs do from now on."""
        self.change(lambda state: state.update(values))

    def add_cluster(self, name: str, image: str, status: str = "running") -> None:
        """Let a cluster of three nodes exist."""
        added = [
            {
                "id": name + node,
                "name": f"{name}-{node}",
                "cluster": name,
                "role": role,
                "status": status,
                "image": image,
            }
            for node, role in NODES
        ]
        self.change(lambda state: state["containers"].extend(added))

    def drop(self, key: str, names: list[str]) -> str:
        """Remove the containers whose ``key`` is one of the names; print nothing."""
        self.change(lambda state: state.update(containers=[c for c in state["containers"] if c[key] not in names]))
        return ""


def run(program: str, argv: list[str], path: str, say: Callable[[str], object], drain: Callable[[], object]) -> str:
    """Run a program: return its standard output, ``say`` its standard error, ``drain`` its input.

    Raises:
        Failed: Its exit code is 1.
    """
    state = State(path)
    now = state.change(lambda state: state["calls"].append([program, *argv]))
    if program == "docker":
        return docker(argv, state, now, drain)
    return kind(argv, state, now, say) if program == "kind" else ""


def docker(argv: list[str], state: State, now: dict[str, Any], drain: Callable[[], object]) -> str:
    """Answer like docker."""
    if now["engine"] == "down":
        fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?")
    if argv[0] == "exec":
        return execute([word for word in argv[1:] if word != "--interactive"], state, now, drain)
    answers: dict[str, Callable[[], str]] = {
        "ps": lambda: _ps(argv, now),
        "inspect": lambda: _inspect(argv, now),
        "image": lambda: _image(argv, now),
        "images": lambda: "\n".join(f"{name}\tid\t1.3GB" for name in now["images"] if name.startswith("schedproof/")),
        "network": lambda: _network(argv, state, now),
        "logs": lambda: str(now["node_log"]),
        "version": lambda: "26.1.5",
        "save": lambda: _copy(now["archive"], argv[argv.index("--output") + 1]),
        "rm": lambda: state.drop("name", argv[1:]),
        "rmi": lambda: str(state.change(lambda state: state["images"].pop(argv[-1], None)) and ""),
    }
    return answers[argv[0]]()


def _ps(argv: list[str], now: dict[str, Any]) -> str:
    label = next((word for word in argv if word.startswith("label=")), "")
    key, _, cluster = label.removeprefix("label=").partition("=")
    if key == "schedproof.registry":
        found = [each for each in now["containers"] if each.get("registry") and cluster in ("", each["registry"])]
        return "\n".join(each["name"] if "{{.Names}}" in argv else each["registry"] for each in found)
    begins = next((word.removeprefix("name=^") for word in argv if word.startswith("name=^")), "")
    found = [
        each
        for each in now["containers"]
        if (not cluster or each["cluster"] == cluster) and each["name"].startswith(begins)
    ]
    return "\n".join(each["id"] if "--quiet" in argv else each["name"] for each in found)


def _inspect(argv: list[str], now: dict[str, Any]) -> str:
    import json

    return json.dumps(
        [
            {
                "Name": "/" + each["name"],
                "Image": each["image"],
                "State": {"Status": each["status"]},
                "Config": {"Labels": {"io.x-k8s.kind.role": each["role"]}},
            }
            for each in now["containers"]
            if each["id"] in argv
        ]
    )


def _image(argv: list[str], now: dict[str, Any]) -> str:
    if "{{len .RepoTags}}" in argv:
        return str(list(now["images"].values()).count(argv[-1]))
    if argv[-1] not in now["images"]:
        fail("Error: No such image: " + argv[-1])
    return "linux/amd64" if "Architecture" in " ".join(argv) else str(now["images"][argv[-1]])


def _network(argv: list[str], state: State, now: dict[str, Any]) -> str:
    if not now["network"]:
        fail("Error: No such network: kind")
    if argv[1] == "rm":
        state.set(network="")
    return str(now["network"])


def _copy(source: str, target: str) -> str:
    import shutil

    shutil.copyfile(source, target)
    return ""


def execute(argv: list[str], state: State, now: dict[str, Any], drain: Callable[[], object]) -> str:
    """Answer like a program inside a node."""
    import json

    node = argv[0]
    if "import" in argv:
        drain()
        state.change(lambda state: state["loaded"].append(node))
        if now["import_fails"]:
            fail(now["import_fails"])
    elif "inspecti" in argv:
        if node not in now["loaded"]:
            fail("no such image")
        return json.dumps({"status": {"id": now["node_has"]}})
    elif argv[1] in {"grep", "test"} and argv[-1] == now["not_in_node"]:
        fail("")
    elif "images" in argv:
        return json.dumps({"images": [{"repoTags": ["registry.k8s.io/pause:3.10.2"]}, {"repoTags": None}]})
    return ""


def kind(argv: list[str], state: State, now: dict[str, Any], say: Callable[[str], object]) -> str:
    """Answer like kind."""
    if argv == ["version"]:
        return str(now["kind_version"])
    if now["engine"] == "down":
        fail("ERROR: failed to list nodes: Cannot connect to the Docker daemon")
    name = argv[argv.index("--name") + 1]
    if argv[0] == "delete":
        if not now["delete_leaves"]:
            state.drop("cluster", [name])
        return ""
    say(f"Creating cluster {name} ...")
    say(" • Preparing nodes 📦  ...")
    state.set(network=now["network"] or "network-1")
    state.add_cluster(name, now["images"][argv[argv.index("--image") + 1]])
    say(" • Starting control-plane 🕹️  ...")
    if now["hang"]:
        _hang(now["hang"])
    if now["create_fails"]:
        state.set(engine=now["engine_after"])
        fail(now["create_fails"])
    if now["kubeconfig"]:
        with open(argv[argv.index("--kubeconfig") + 1], "w") as file:  # noqa: PTH123
            file.write("apiVersion: v1\n")
    return ""


def _hang(fifo: str) -> NoReturn:
    import signal

    with open(fifo, "w") as pipe:  # noqa: PTH123 - opening waits for the reader: the test knows that we are here
        pipe.write(str(os.getpid()))
    while True:
        signal.pause()


def fail(text: str) -> NoReturn:
    """End the program."""
    raise Failed(text)


def main(program: str, path: str) -> int:
    """Be the program, as a script on PATH."""
    try:
        print(run(program, sys.argv[1:], path, _say, sys.stdin.buffer.read))  # noqa: T201
    except Failed as error:
        _say(str(error))
        return 1
    return 0


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201
