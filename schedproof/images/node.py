"""The image of the nodes: given, pulled, or built, in this order; each provider says why it was passed over."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from schedproof.errors import ImageError, UsageError
from schedproof.host.docker import docker
from schedproof.images import engine, node_build
from schedproof.progress import progress
from schedproof.settings import DEFAULT_KUBERNETES, Settings

KIND_PINNED = "kindest/node:v1.37.0@sha256:a1ed56cfb0e7b93589bdf97c8cd566405a265939e3620fc4f5de89adff580ae5"
"""Node image that the pinned kind (v0.33.0) was released with: pkg/apis/config/defaults/image.go there."""

REPOSITORY = "kindest/node"
"""Where kind's own node images of other versions are."""


@dataclass(frozen=True)
class NodeImage:
    """A node image that the engine has.

    Attributes:
        tag: What kind is given as ``--image``.
        kubernetes: Version of Kubernetes in it, e.g. ``v1.37.2``.
        provider: Who it came from: given, pull, ours (built by an earlier run) or build.
    """

    tag: str
    kubernetes: str
    provider: str


@dataclass(frozen=True)
class _PassedOver:
    why: str


def ensure_node_image(settings: Settings) -> NodeImage:
    """Return a node image that is in the engine, and say which provider it came from.

    Order: the user's (``NODE_IMAGE``); kind's own, in the engine or pulled; ours of an earlier run; built now.
    ``PROVIDERS=node-image=given|pull|build`` asks one only; ``build`` takes ours of an earlier run if nothing changed.

    Raises:
        ImageError: No provider has it; the message says why, one by one.
        ProgramError: Building needs a program that cannot be had.
        UsageError: ``PROVIDERS`` names no provider, or forces the given one and none is given.
    """
    forced = settings.providers.get("node-image", "")
    if forced not in ("", *_PROVIDERS):
        raise UsageError(
            "PROVIDERS names a provider of node-image",
            seen=f"node-image={forced}",
            cure=f"one of {', '.join(_PROVIDERS)}",
        )
    # A given image is meant: if it cannot be had, another one in its place would be a surprise.
    names = [forced] if forced else ["given"] if settings.node_image else list(_PROVIDERS)
    passed_over: list[str] = []
    for name in names:
        answer = _PROVIDERS[name](settings)
        if isinstance(answer, NodeImage):
            _mind_version(answer, settings)
            return answer
        passed_over.append(f"{name}: {answer.why}")
        if name != "given" or settings.node_image:
            progress.line(f"  node image: passed over {name}: {answer.why}")
    raise ImageError(
        "a node image can be had",
        seen="\n".join(passed_over),
        cure="load one into the engine and name it with NODE_IMAGE=, or leave PROVIDERS out so that one is built",
    )


def _given(settings: Settings) -> NodeImage | _PassedOver:
    ref = settings.node_image
    if not ref:
        return _PassedOver("NODE_IMAGE is not set")
    return _in_engine_or_pulled(ref, "given")


def _kinds_own(settings: Settings) -> NodeImage | _PassedOver:
    version = settings.kubernetes_version
    pinned = KIND_PINNED.partition("@")[0]
    ref = KIND_PINNED if version in ("", pinned.rpartition(":")[2]) else f"{REPOSITORY}:{version}"
    return _in_engine_or_pulled(ref, "pull")


def _built(settings: Settings) -> NodeImage | _PassedOver:
    version = settings.kubernetes_version or DEFAULT_KUBERNETES
    ours = node_build.tag(version)
    labels = engine.labels(ours)
    if labels.get(node_build.RECIPE_LABEL) == node_build.recipe(version):
        return NodeImage(ours, version, "ours")
    if labels:
        progress.line(f"  node image: {ours} is of an older recipe, it is built anew")
    return NodeImage(node_build.build(version, settings), version, "build")


_PROVIDERS: dict[str, Callable[[Settings], NodeImage | _PassedOver]] = {
    "given": _given,
    "pull": _kinds_own,
    "build": _built,
}


def _in_engine_or_pulled(ref: str, provider: str) -> NodeImage | _PassedOver:
    if not engine.exists(ref):
        with progress.step(f"asking for {ref.partition('@')[0]}"):
            why = engine.pull(ref)
        if why:
            return _PassedOver(why)
    return NodeImage(ref, kubernetes_of(ref), provider)


def kubernetes_of(ref: str) -> str:
    """Return the version of Kubernetes in a node image: from our label, else from its file /kind/version.

    Raises:
        ImageError: It is no kind node image.
    """
    if version := engine.labels(ref).get(node_build.KUBERNETES_LABEL):
        return version
    answer = docker("run", "--rm", "--network=none", "--entrypoint=cat", ref, "/kind/version", seconds=120, check=False)
    version = answer.stdout.strip()
    if answer.code != 0 or not re.fullmatch(r"v\d+\.\d+\.\d+\S*", version):
        raise ImageError(
            f"{ref} is a kind node image: its file /kind/version says which Kubernetes is in it",
            seen=(answer.stderr or answer.stdout).strip()[:300] or "nothing",
            cure="name a node image with NODE_IMAGE=, e.g. kindest/node:v1.37.0",
        )
    return version


def _mind_version(image: NodeImage, settings: Settings) -> None:
    asked = settings.kubernetes_version
    if asked and image.kubernetes != asked:
        raise ImageError(
            f"the node image holds Kubernetes {asked}, as KUBERNETES_VERSION asks",
            seen=f"{image.tag} holds {image.kubernetes}",
            cure="leave KUBERNETES_VERSION out, or name another image with NODE_IMAGE=",
        )
