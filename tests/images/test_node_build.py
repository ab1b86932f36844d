"""Building a node image with a fake engine: what goes in, what it is labelled with, and how it fails."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders, programs
from schedproof.command import CommandFailed
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.images import node_build, node_rootfs
from schedproof.images.node_programs import IN_IMAGES, ON_THE_NODE, NodePrograms
from schedproof.settings import Settings, settings

KUBERNETES = "v1.37.2"
VERSIONS = {
    **dict.fromkeys((*ON_THE_NODE, *IN_IMAGES), KUBERNETES),
    "etcd": "v3.7.0",
    "coredns": "v1.14.6",
    "flannel": "v0.27.4",
    "containerd": "v2.2.9",
    "containerd-shim-runc-v2": "v2.2.9",
    "ctr": "v2.2.9",
    "crictl": "v1.34.0",
}
LISTED = [
    *(f"registry.k8s.io/{name}:{KUBERNETES}" for name in IN_IMAGES if name.startswith("kube-")),
    "registry.k8s.io/coredns/coredns:v1.14.6",
    "registry.k8s.io/pause:3.10.2",
    "registry.k8s.io/etcd:3.7.0-0",
]
FLANNEL = "localhost/schedproof/flannel:v0.27.4"

ANSWER = """#!/bin/sh
echo "Kubernetes {0}
Client Version: {0}
{0}
etcd Version: {1}
 Version: {0}
 CoreDNS-{1}
 crictl version {0}"
"""
"""A program that answers in everybody's words."""


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Programs of the right versions, so small that they are read in no time; kubeadm's list; no compiler."""
    paths: dict[str, Path] = {}
    for name, version in {**VERSIONS, "pause": "3.10.2"}.items():
        paths[name] = tmp_path / "programs" / name
        answer(paths[name], version)
    monkeypatch.setattr(programs, "ensure", lambda names, *_, **__: {name: paths[name] for name in names})
    monkeypatch.setattr(programs, "versions", lambda *_: dict(VERSIONS))
    monkeypatch.setattr(programs, "images", lambda *_: list(LISTED))

    def build_own(folder: Path, name: str, *, stamps: Sequence[str]) -> Path:
        assert (folder / "go.mod").is_file()
        assert stamps == ["main.version=3.10.2"]
        return paths[name]

    monkeypatch.setattr(programs, "build_own", build_own)
    return paths


def answer(path: Path, version: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(ANSWER.format(version, version.removeprefix("v")))
    path.chmod(0o755)


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian system that is there already and has no packages worth copying."""
    rootfs = tmp_path / "debian.tar"
    with tarfile.open(rootfs, "w"):
        pass
    monkeypatch.setattr(node_rootfs, "debian_sources", lambda: ("bookworm", []))
    monkeypatch.setattr(node_rootfs, "ensure_rootfs", lambda: rootfs)
    monkeypatch.setattr(node_rootfs, "copy_packages", lambda *_: None)
    return rootfs


@pytest.fixture
def chosen() -> Settings:
    return settings({}, {})


@pytest.mark.usefixtures("shelf", "debian")
def test_the_image_is_assembled_committed_and_labelled(fake_engine: Any, chosen: Settings) -> None:
    fake_engine.container_prints(start="\n".join([*LISTED, FLANNEL]))

    assert node_build.build(KUBERNETES, chosen) == "schedproof/node:v1.37.2"

    verbs = [call[0] for call in fake_engine.calls if call[0] != "image"]
    assert verbs == ["import", "rm", "create", "cp", "start", "commit", "rm"]
    (commit,) = fake_engine.said("commit")
    changes = [word.removeprefix("--change=") for word in commit if word.startswith("--change=")]
    assert "STOPSIGNAL SIGRTMIN+3" in changes
    assert 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' in changes
    assert f"LABEL schedproof.node.recipe={node_build.recipe(KUBERNETES)}" in changes
    assert any("etcd v3.7.0" in change and "coredns v1.14.6" in change for change in changes)
    assert not list((folders.cache() / "images").iterdir()), "nothing is left in the cache"


@pytest.mark.usefixtures("shelf", "debian")
def test_an_image_that_another_run_has_built_meanwhile_is_taken(fake_engine: Any, chosen: Settings) -> None:
    fake_engine.has("schedproof/node:v1.37.2", recipe=node_build.recipe(KUBERNETES))

    node_build.build(KUBERNETES, chosen)

    assert {call[0] for call in fake_engine.calls} == {"image"}


@pytest.mark.usefixtures("shelf", "debian")
def test_the_image_that_lost_its_tag_is_removed(fake_engine: Any, chosen: Settings) -> None:
    fake_engine.has("schedproof/node:v1.37.2", image_id="sha256:older", recipe="of last week")
    fake_engine.container_prints(start="\n".join([*LISTED, FLANNEL]))

    node_build.build(KUBERNETES, chosen)

    assert ["image", "rm", "sha256:older"] in fake_engine.calls


@pytest.mark.usefixtures("shelf", "debian")
def test_an_image_that_containerd_did_not_import_is_named(fake_engine: Any, chosen: Settings) -> None:
    fake_engine.container_prints(start="\n".join(LISTED))

    with pytest.raises(ImageError, match=f"missing: {FLANNEL}"):
        node_build.build(KUBERNETES, chosen)
    assert not fake_engine.said("commit")
    assert fake_engine.calls[-1][:2] == ["rm", "--force"]


@pytest.mark.usefixtures("shelf", "debian")
def test_a_full_disk_leaves_neither_a_container_nor_files(fake_engine: Any, chosen: Settings) -> None:
    fake_engine.container_prints(start=None)

    with pytest.raises(CommandFailed, match="no space left on device"):
        node_build.build(KUBERNETES, chosen)
    assert fake_engine.calls[-1] == ["rm", "--force", "--volumes", "schedproof-node-image-v1.37.2"]
    assert not list((folders.cache() / "images").iterdir())


def test_a_machine_that_cannot_build_says_so_before_anything_is_compiled(
    fake_engine: Any, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "alpine", "PRETTY_NAME": "Alpine"})
    monkeypatch.setattr(programs, "ensure", lambda *_, **__: pytest.fail("a program was asked for"))

    with pytest.raises(ImageError, match="Alpine"):
        node_build.build(KUBERNETES, chosen)
    assert {call[0] for call in fake_engine.calls} == {"image"}


@pytest.mark.parametrize("name", ["kubectl", "etcd", "coredns", "containerd-shim-runc-v2", "flannel"])
def test_a_program_of_another_version_than_its_name_says_is_refused(
    name: str, shelf: dict[str, Path], chosen: Settings
) -> None:
    answer(shelf[name], "v9.9.9")

    with pytest.raises(ImageError, match=rf"{name} in the node image is {VERSIONS[name]}(.|\n)*v9\.9\.9"):
        NodePrograms(KUBERNETES, chosen)


@pytest.mark.usefixtures("shelf")
@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        ("etcd:3.7.0-0", "etcd:3.6.13-0", "etcd"),
        ("coredns:v1.14.6", "coredns:v1.13.1", "coredns"),
        ("kube-proxy:v1.37.2", "kube-proxy:v1.37.1", "kube-proxy"),
        ("pause:3.10.2", "sleep:1", "pause, sleep"),
    ],
)
def test_an_image_name_that_does_not_fit_the_programs_is_refused(
    right: str, wrong: str, named: str, chosen: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "images", lambda *_: [name.replace(right, wrong) for name in LISTED])

    with pytest.raises(ImageError, match=f"not as expected: {named}"):
        NodePrograms(KUBERNETES, chosen)


@pytest.mark.usefixtures("shelf")
def test_what_is_laid_out_is_what_kind_and_the_kubelet_look_for(tmp_path: Path, debian: Path, chosen: Settings) -> None:
    node_build.stage(tmp_path, debian, NodePrograms(KUBERNETES, chosen))

    root = tmp_path / "root"
    assert (root / "kind/version").read_text() == KUBERNETES
    assert "sandbox = 'registry.k8s.io/pause:3.10.2'" in (root / "etc/containerd/config.toml").read_text()
    assert f'image: "{FLANNEL}"' in (root / "kind/manifests/default-cni.yaml").read_text()
    for name, place in ON_THE_NODE.items():
        assert (root / place / name).stat().st_mode & 0o777 == 0o755
    names = [
        image["annotations"]["io.containerd.image.name"]
        for image in json.loads((root / "kind/images/index.json").read_text())["manifests"]
    ]
    assert sorted(names) == sorted([*LISTED, FLANNEL])


@pytest.mark.usefixtures("shelf")
def test_scripts_can_be_run_and_folders_read_whatever_the_umask(tmp_path: Path, debian: Path, chosen: Settings) -> None:
    found = NodePrograms(KUBERNETES, chosen)
    before = os.umask(0o077)
    try:
        node_build.stage(tmp_path / "stage", debian, found)
    finally:
        os.umask(before)

    root = tmp_path / "stage" / "root"
    modes = {path.relative_to(root).as_posix(): path.stat().st_mode & 0o777 for path in root.rglob("*")}
    assert modes["usr"] == modes["etc/systemd"] == modes["usr/local/bin/entrypoint"] == 0o755
    assert modes["usr/local/lib/schedproof/kubelet-cgroups"] == modes["kind/assemble.sh"] == 0o755
    assert modes["etc/systemd/system/kubelet.service"] == 0o644


def test_the_recipe_changes_with_version_and_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "manifests"
    shutil.copytree(manifests("images", "node"), copy / "images" / "node")
    monkeypatch.setattr(node_build, "manifests", copy.joinpath)
    first = node_build.recipe(KUBERNETES)

    assert node_build.recipe("v1.36.3") != first
    assert node_build.recipe(KUBERNETES) == first
    with (copy / "images/node/packages.txt").open("a") as packages:
        packages.write("one-more\n")
    assert node_build.recipe(KUBERNETES) != first
