"""What the engine is asked about an image, and how a pull ends."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.errors import EngineError, ImageError
from schedproof.images import engine

NO_NETWORK = 'Error response from daemon: Get "https://registry-1.docker.io/v2/": dial tcp: lookup x: no such host'


def test_an_image_that_is_there_has_an_id_and_labels(fake_engine: Any) -> None:
    fake_engine.has("some/image:1", image_id="sha256:abc", recipe="r")

    assert engine.exists("some/image:1")
    assert engine.image_id("some/image:1") == "sha256:abc"
    assert engine.labels("some/image:1") == {"schedproof.node.recipe": "r"}


@pytest.mark.usefixtures("fake_engine")
def test_an_image_that_is_not_there_has_no_labels_and_its_id_is_an_error() -> None:
    assert not engine.exists("some/image:1")
    assert engine.labels("some/image:1") == {}
    with pytest.raises(ImageError, match="the engine has the image some/image:1"):
        engine.image_id("some/image:1")


def test_an_engine_that_is_down_is_not_taken_for_a_missing_image(fake: Any) -> None:
    fake("docker", "print('Cannot connect to the Docker daemon at unix:///x', file=sys.stderr); sys.exit(1)")

    with pytest.raises(EngineError):
        engine.exists("some/image:1")


def test_a_pull_that_works_has_no_reason_to_tell(fake_engine: Any) -> None:
    fake_engine.can_pull("some/image:1")

    assert engine.pull("some/image:1") == ""
    assert engine.exists("some/image:1")


def test_a_registry_that_cannot_be_reached_is_asked_once(fake_engine: Any) -> None:
    fake_engine.refuses_pulls(NO_NETWORK)

    first, second = engine.pull("kindest/node:v1.37.0"), engine.pull("busybox:1.37")

    assert "its name is not known here" in first
    assert "was not reachable a moment ago" in second
    assert len(fake_engine.said("pull")) == 1


def test_another_registry_is_asked_for_itself(fake_engine: Any) -> None:
    fake_engine.refuses_pulls(NO_NETWORK)

    engine.pull("busybox:1.37")
    engine.pull("registry.k8s.io/pause:3.10")

    assert len(fake_engine.said("pull")) == 2


def test_a_missing_image_says_nothing_about_its_registry(fake_engine: Any) -> None:
    fake_engine.refuses_pulls("Error response from daemon: manifest for kindest/node:v9 not found: manifest unknown")
    assert "manifest unknown" in engine.pull("kindest/node:v9")

    fake_engine.can_pull("kindest/node:v1.37.0")
    assert engine.pull("kindest/node:v1.37.0") == ""


def test_a_registry_that_says_nothing_is_given_up(fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine.forget_unreachable()
    monkeypatch.setattr(engine, "FIRST_ANSWER", 0.2)
    fake("docker", "import signal; signal.pause()")

    assert "nothing was heard" in engine.pull("busybox:1.37")
    assert "was not reachable" in engine.pull("busybox:1.37")
    engine.forget_unreachable()


@pytest.mark.parametrize(
    ("ref", "registry"),
    [
        ("busybox", "docker.io"),
        ("kindest/node:v1", "docker.io"),
        ("registry.k8s.io/pause:3", "registry.k8s.io"),
        ("localhost/x:1", "localhost"),
        ("host:5000/x:1", "host:5000"),
    ],
)
def test_the_registry_of_an_image_is_in_its_name(ref: str, registry: str) -> None:
    assert engine.registry(ref) == registry
