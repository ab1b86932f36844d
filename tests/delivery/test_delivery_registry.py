"""A registry beside the nodes: started, reached, pushed to, and removed with everything that was pulled from it."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.delivery import leftovers
from schedproof.delivery.pulled import assert_pulled
from schedproof.delivery.registry import Pushed, Registry
from schedproof.errors import ClaimFailed, ClusterError, ImageError

NAME = "127.0.0.1:4711/schedproof/my-scheduler"
ENGINE = """
match argv:
    case ["image", "inspect", "registry:3"]:
        print("[{{}}]")
    case ["port", *_]:
        print("127.0.0.1:4711")
    case ["inspect", *_]:
        print("172.18.0.9")
    case ["push", *_]:
        if {refuses!r}:
            sys.exit("denied: " + {refuses!r})
    case ["image", "inspect", "--format", *_]:
        print(json.dumps(["elsewhere@sha256:0", {name!r} + "@sha256:1"]))
    case ["images", *_]:
        print({name!r} + ":1.0 id1")
        print({name!r} + ":<none> id2")
        print("schedproof/other:1 id3")
    case ["ps", *_, "{{{{.Ports}}}}"]:
        print("127.0.0.1:4711->5000/tcp" if {live!r} else "")
    case ["exec", _, "curl", *_]:
        print({answer!r}, end="")
    case ["exec", _, "crictl", *_, "images", "--output", "json"]:
        tags = [{name!r} + ":1.0"]
        print(json.dumps(dict(images=[dict(id="a", repoTags=tags), dict(id="b", repoTags=None, repoDigests=["x@y"])])))
"""


def engine_like(fake: Any, *, answer: str = "200", refuses: str = "", live: bool = False) -> Any:
    return fake("docker", ENGINE.format(name=NAME, answer=answer, refuses=refuses, live=live))


def test_registry_is_reached_from_every_node_and_leaves_nothing(fake: Any) -> None:
    engine = engine_like(fake)
    made = Registry.started("c1", ["node1", "node2"])
    assert (made.address, made.running) == ("127.0.0.1:4711", True)
    led = [call for call in engine.calls if "systemd-run" in call]
    assert [call[1] for call in led] == ["node1", "node2"]
    assert {call[-1] for call in led} == {"172.18.0.9:5000"}
    assert f"{leftovers.LABEL}=c1" in next(call for call in engine.calls if call[0] == "run")

    made.remove()

    assert [call[1:] for call in engine.calls if call[0] == "rmi"] == [[f"{NAME}:1.0"], ["id2"]]
    assert [call[-2:] for call in engine.calls if "crictl" in call and "rmi" in call] == [["rmi", "a"]] * 2
    assert ["rm", "--force", "--volumes", made.container] in engine.calls


def test_registry_that_a_node_does_not_reach_is_removed_again(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_like(fake, answer="000")
    monkeypatch.setattr("schedproof.delivery.registry.ANSWERS", 0.3)
    with pytest.raises(ClusterError, match="answers node node1") as error:
        Registry.started("c1", ["node1"])
    assert "HTTP status 000" in str(error.value)
    assert any(call[0] == "rm" for call in engine.calls)


def test_push_tells_the_digest_of_this_registry(fake: Any) -> None:
    engine_like(fake)
    made = Registry("c1", (), "r", "127.0.0.1:4711")
    assert made.push("mine:1", "my-scheduler:1.0") == Pushed(f"{NAME}:1.0", "sha256:1", made)
    assert made.pushes == 1


def test_push_that_is_refused_says_why(fake: Any) -> None:
    engine_like(fake, refuses="no space")
    with pytest.raises(ImageError, match="the registry takes") as error:
        Registry("c1", (), "r", "127.0.0.1:4711").push("mine:1", "my-scheduler:1.0")
    assert "denied: no space" in str(error.value)


class Scheduler:
    """Stands for a scheduler in Pods: each runs an image."""

    title = "scheduler x"

    def __init__(self, *ids: str) -> None:
        self._ids = ids

    def pods(self) -> list[dict[str, Any]]:
        return [{"metadata": {"name": "p"}, "status": {"containerStatuses": [{"imageID": one}]}} for one in self._ids]

    def state(self) -> str:
        return ""


def test_image_that_runs_must_be_the_one_that_was_pushed() -> None:
    pushed = Pushed(f"{NAME}:1.0", "sha256:1", Registry("c1", (), "r"))
    good: Any = Scheduler(f"{NAME}@sha256:1")
    assert_pulled(good, pushed)
    for ids in ((f"{NAME}@sha256:2",), ()):
        bad: Any = Scheduler(*ids)
        with pytest.raises(ClaimFailed, match="runs the image that was pushed"):
            assert_pulled(bad, pushed)


@pytest.mark.parametrize("live", [True, False])
def test_names_of_what_was_pushed_go_with_the_last_registry_that_serves_them(fake: Any, *, live: bool) -> None:
    engine = engine_like(fake, live=live)
    leftovers._forget_unserved()
    assert [call[1] for call in engine.calls if call[0] == "rmi"] == ([] if live else [f"{NAME}:1.0", "id2"])
