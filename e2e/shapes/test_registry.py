"""Package the scheduler: an image is built from busybox and the program, tagged, pushed, and pulled by the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from schedproof import data
from schedproof.delivery.pulled import assert_pulled
from schedproof.delivery.registry import Registry
from schedproof.images import engine
from schedproof.images.busybox import ensure_busybox
from schedproof.images.document import assert_as_documented, build

if TYPE_CHECKING:
    from fixtures.held import ClaimPods, Schedulers
    from fixtures.inputs import Manifests
    from fixtures.judging import Judge
    from schedproof.cluster.facts import Facts
    from schedproof.settings import Settings

NAME = "my-scheduler:1.0"
DOCKERFILE = ("images", "scheduler", "Dockerfile")


@pytest.fixture
def image(namespace: str) -> Iterator[str]:
    """A name for an image in the engine; it is removed at the end."""
    made = f"schedproof/{namespace}:1.0"
    yield made
    engine.remove(made)


@pytest.fixture
def registry(facts: Facts) -> Iterator[Registry]:
    """A registry of this claim's own, which engine and nodes reach."""
    if not facts.owned:
        pytest.skip("the nodes of a foreign cluster cannot be led to a registry of ours")
    made = Registry.started(facts.name, [*facts.control_planes, *facts.workers])
    yield made
    made.remove()


@pytest.mark.claim("image-built-from-busybox", lines=["A-07", "A-10", "A-11", "A-14"])
def test_documents_dockerfile_makes_an_image_from_busybox_with_the_program_where_it_says(
    facts: Facts, settings: Settings, manifests: Manifests, image: str
) -> None:
    """`docker build -t NAME:1.0 .` makes an image FROM busybox with the program at /usr/local/bin/kube-scheduler."""
    dockerfile = manifests.input("dockerfile", data.manifests(*DOCKERFILE).read_text(encoding="utf-8"))
    busybox = ensure_busybox(settings)

    build(dockerfile, facts, busybox, image)

    assert_as_documented(image, busybox, facts.scheduler_version)


@pytest.mark.claim("delivered-by-registry", lines=["A-12", "A-14", "A-15"])
def test_image_that_was_pushed_is_pulled_by_the_nodes_and_schedules(
    facts: Facts,
    settings: Settings,
    manifests: Manifests,
    pods: ClaimPods,
    schedulers: Schedulers,
    binder: Judge,
    registry: Registry,
    image: str,
) -> None:
    """The image is built and pushed; the nodes pull it whenever its Pod is made (Always), and its scheduler binds."""
    build(data.manifests(*DOCKERFILE).read_text(encoding="utf-8"), facts, ensure_busybox(settings), image)
    pushed = manifests.input("pushed", registry.push(image, NAME))

    second = schedulers.deploy(image=manifests.input("image", pushed.name), pull_policy="Always")
    assert_pulled(second, pushed)
    binder.assert_bound_by(pods.apply(manifests.pod("pod3", name="first", schedulerName=second.name)), second)

    second.kill_pod()
    second.wait_until_ready()
    assert_pulled(second, pushed)
    binder.assert_bound_by(pods.apply(manifests.pod("pod3", name="second", schedulerName=second.name)), second)
