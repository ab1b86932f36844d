"""Mutants of test_registry.py."""

from __future__ import annotations

from schedproof.delivery.registry import Pushed
from schedproof.host.docker import docker
from schedproof.mutants import mutant


@mutant(
    claim="image-built-from-busybox",
    input="dockerfile",
    fault="the image starts from nothing: smaller, but no busybox to look around with",
    expect="starts from * of its 1 layers 0 are that base's",
)
def from_scratch(dockerfile: str) -> str:
    return dockerfile.replace("FROM ${BASE}", "FROM scratch")


@mutant(
    claim="image-built-from-busybox",
    input="dockerfile",
    fault="I4: the program is put elsewhere than where the manifest's command looks for it",
    expect="/usr/local/bin/kube-scheduler in the image * exit code 127",
)
def program_elsewhere(dockerfile: str) -> str:
    return dockerfile.replace("/usr/local/bin/", "/opt/")


@mutant(
    claim="delivered-by-registry",
    input="image",
    fault="I2: the tag in the manifest was never pushed",
    expect="pods Ready * ErrImagePull * my-scheduler:1.1",
    renames=True,
)
def tag_not_pushed(name: str) -> str:
    return name.replace(":1.0", ":1.1")


@mutant(
    claim="delivered-by-registry",
    input="pushed",
    fault="I2: the registry is away when the node pulls",
    expect="pods Ready * ErrImagePull * 127.0.0.1:*/schedproof/my-scheduler:1.0",
)
def registry_away(pushed: Pushed) -> None:
    pushed.registry.stop()


@mutant(
    claim="delivered-by-registry",
    input="pushed",
    fault="I3: somebody else builds anew and pushes under the same tag before the node pulls",
    expect="runs the image that was pushed * the tag was moved after it was pushed",
)
def tag_moved(pushed: Pushed) -> None:
    another = docker("build", "--quiet", "-", stdin=f"FROM {pushed.name}\nLABEL by=somebody-else\n").stdout.strip()
    pushed.registry.push(another, pushed.name.rpartition("/")[2])
