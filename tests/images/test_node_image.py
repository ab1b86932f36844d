"""Where a node image comes from: the order of the providers and what each says when it is passed over."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof import programs
from schedproof.errors import ImageError, UsageError
from schedproof.images import node, node_build
from schedproof.progress import progress
from schedproof.settings import DEFAULT_KUBERNETES, Settings, settings


def chosen(**options: Any) -> Settings:
    return settings(options, {})


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record what would be built."""
    built: list[str] = []

    def build(kubernetes: str, _: Settings) -> str:
        built.append(kubernetes)
        return node_build.tag(kubernetes)

    monkeypatch.setattr(node_build, "build", build)
    return built


def test_a_given_image_in_the_engine_is_taken_without_a_pull(fake_engine: Any, builds: list[str]) -> None:
    fake_engine.has("my/node:1", kubernetes="v1.36.3")

    assert node.ensure_node_image(chosen(node_image="my/node:1")) == node.NodeImage("my/node:1", "v1.36.3", "given")
    assert not fake_engine.said("pull")
    assert not builds


def test_a_given_image_is_pulled_when_the_engine_lacks_it(fake_engine: Any) -> None:
    fake_engine.can_pull("my/node:1", kubernetes="v1.36.3")

    assert node.ensure_node_image(chosen(node_image="my/node:1")).kubernetes == "v1.36.3"


def test_a_given_image_that_cannot_be_had_is_not_replaced_by_another(fake_engine: Any, builds: list[str]) -> None:
    fake_engine.refuses_pulls("manifest unknown")

    with pytest.raises(ImageError, match="given: manifest unknown"):
        node.ensure_node_image(chosen(node_image="my/node:1"))
    assert not builds


def test_kinds_pinned_image_comes_before_a_build(fake_engine: Any, builds: list[str]) -> None:
    fake_engine.can_pull(node.KIND_PINNED)
    fake_engine.container_prints(run="v1.37.0")

    image = node.ensure_node_image(chosen())

    assert image == node.NodeImage(node.KIND_PINNED, "v1.37.0", "pull")
    assert not builds


def test_another_kubernetes_version_is_asked_for_by_its_tag(fake_engine: Any) -> None:
    fake_engine.can_pull("kindest/node:v1.36.3")
    fake_engine.container_prints(run="v1.36.3")

    assert node.ensure_node_image(chosen(kubernetes_version="v1.36.3")).tag == "kindest/node:v1.36.3"


def test_the_pinned_digest_serves_its_own_version_too(fake_engine: Any) -> None:
    fake_engine.can_pull(node.KIND_PINNED)
    fake_engine.container_prints(run="v1.37.0")

    assert node.ensure_node_image(chosen(kubernetes_version="v1.37.0")).tag == node.KIND_PINNED


def test_where_nothing_can_be_pulled_the_image_is_built_and_the_reason_told(
    fake_engine: Any, builds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_engine.refuses_pulls("dial tcp: lookup registry-1.docker.io: no such host")
    said: list[str] = []
    monkeypatch.setattr(progress, "line", said.append)

    image = node.ensure_node_image(chosen())

    assert (image.provider, image.kubernetes) == ("build", DEFAULT_KUBERNETES)
    assert builds == [DEFAULT_KUBERNETES]
    assert any("passed over pull" in line and "its name is not known here" in line for line in said)


def test_ours_of_an_earlier_run_is_used_again(fake_engine: Any, builds: list[str]) -> None:
    fake_engine.has("schedproof/node:v1.37.2", recipe=node_build.recipe("v1.37.2"), kubernetes="v1.37.2")

    assert node.ensure_node_image(chosen(kubernetes_version="v1.37.2")).provider == "ours"
    assert not builds


def test_ours_of_an_older_recipe_is_built_anew(fake_engine: Any, builds: list[str]) -> None:
    fake_engine.has("schedproof/node:v1.37.2", recipe="of last week", kubernetes="v1.37.2")

    assert node.ensure_node_image(chosen(kubernetes_version="v1.37.2")).provider == "build"
    assert builds == ["v1.37.2"]


def test_a_forced_provider_is_the_only_one_asked(fake_engine: Any, builds: list[str]) -> None:
    with pytest.raises(ImageError) as failure:
        node.ensure_node_image(chosen(providers="node-image=pull"))
    assert "pull:" in str(failure.value)
    assert "PROVIDERS" in str(failure.value)
    assert not builds

    node.ensure_node_image(chosen(providers="node-image=build"))
    assert builds == [DEFAULT_KUBERNETES]
    assert len(fake_engine.said("pull")) == 1


@pytest.mark.usefixtures("fake_engine")
def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="given, pull, build"):
        node.ensure_node_image(chosen(providers="node-image=apt"))


def test_an_image_of_another_version_than_asked_for_is_refused(fake_engine: Any) -> None:
    fake_engine.has("my/node:1", kubernetes="v1.36.3")

    with pytest.raises(ImageError, match=r"my/node:1 holds v1\.36\.3"):
        node.ensure_node_image(chosen(node_image="my/node:1", kubernetes_version="v1.37.2"))


def test_an_image_that_is_no_node_image_is_refused(fake_engine: Any) -> None:
    fake_engine.has("busybox:1")
    fake_engine.container_prints(run="cat: /kind/version: No such file or directory")

    with pytest.raises(ImageError, match="is a kind node image"):
        node.ensure_node_image(chosen(node_image="busybox:1"))


def test_the_pinned_image_belongs_to_the_pinned_kind() -> None:
    # kind v0.33.0: pkg/apis/config/defaults/image.go. Both are raised together.
    assert programs.kind_version() == "v0.33.0"
    assert node.KIND_PINNED.startswith("kindest/node:v1.37.0@sha256:")
