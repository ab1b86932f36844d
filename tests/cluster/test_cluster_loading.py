"""An image reaches every node as the image that was built, or the message says which node has what instead."""

from __future__ import annotations

import io
import json
import tarfile
import threading
from pathlib import Path
from typing import Any

import pytest

from schedproof.cluster import loading, node
from schedproof.errors import ClusterError, ImageError

DIGEST = "b" * 64
pytestmark = pytest.mark.usefixtures("engine")
NODES = ["x-control-plane", "x-worker", "x-worker2"]


@pytest.fixture
def archive(tmp_path: Path, engine: Any) -> Path:
    path = tmp_path / "saved.tar"
    write_archive(path, f"blobs/sha256/{DIGEST}")
    engine.set(archive=str(path), images={"mine:1": "sha256:index"}, node_has=f"sha256:{DIGEST}")
    return path


def write_archive(path: Path, config: str) -> None:
    text = json.dumps([{"Config": config, "RepoTags": ["mine:1"]}]).encode()
    with tarfile.open(path, "w") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))


@pytest.mark.usefixtures("archive")
def test_image_is_saved_once_and_imported_into_each_node_for_this_platform_only(engine: Any, tmp_path: Path) -> None:
    assert loading.load("mine:1", NODES, tmp_path) == f"sha256:{DIGEST}"

    assert len(engine.calls("docker", "save")) == 1
    assert sorted(engine["loaded"]) == NODES
    imports = [call for call in engine.calls("docker", "exec") if "import" in call]
    assert all(call[call.index("--platform") + 1] == "linux/amd64" for call in imports)
    assert not any("--all-platforms" in call for call in imports)
    assert list(tmp_path.glob("load-*")) == []


@pytest.mark.usefixtures("archive")
def test_node_that_has_the_image_already_is_not_given_it_again(engine: Any, tmp_path: Path) -> None:
    engine.set(loaded=NODES)

    loading.load("mine:1", NODES, tmp_path)

    assert engine["loaded"] == NODES


@pytest.mark.usefixtures("archive")
def test_image_that_all_nodes_have_is_not_even_saved(engine: Any, tmp_path: Path) -> None:
    engine.set(loaded=NODES, images={"mine:1": f"sha256:{DIGEST}"})

    assert loading.load("mine:1", NODES, tmp_path) == f"sha256:{DIGEST}"
    assert not engine.calls("docker", "save")


@pytest.mark.usefixtures("archive")
def test_node_with_another_image_under_the_tag_is_named(
    engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "SEEN_SECONDS", 0.0)
    engine.set(node_has="sha256:older")

    with pytest.raises(ImageError, match="it has sha256:older"):
        loading.load("mine:1", NODES[:1], tmp_path)


@pytest.mark.usefixtures("archive")
def test_import_that_fails_shows_the_nodes_words(engine: Any, tmp_path: Path) -> None:
    engine.set(import_fails="ctr: write /var/lib/containerd: no space left on device")

    with pytest.raises(ImageError, match="no space left on device"):
        loading.load("mine:1", NODES[:1], tmp_path)


def test_image_that_the_engine_does_not_have_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="No such image: absent:1"):
        loading.load("absent:1", NODES, tmp_path)


@pytest.mark.parametrize("config", [f"blobs/sha256/{DIGEST}", f"{DIGEST}.json"])
def test_config_digest_is_read_from_archives_of_new_and_old_engines(tmp_path: Path, config: str) -> None:
    write_archive(tmp_path / "a.tar", config)

    assert loading.config_digest(tmp_path / "a.tar") == f"sha256:{DIGEST}"


def test_archive_that_ends_early_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.tar").write_bytes(b"half")

    with pytest.raises(ImageError, match=r"manifest\.json"):
        loading.config_digest(tmp_path / "a.tar")


def test_waiting_for_loadable_nodes_ends_when_the_creation_is_given_up() -> None:
    given_up = threading.Event()
    given_up.set()

    with pytest.raises(ClusterError, match="the cluster's creation failed"):
        loading.wait_until_loadable("x", 3, given_up)


def test_nodes_are_loadable_when_all_their_containers_run(engine: Any) -> None:
    engine.add_cluster("x")

    loading.wait_until_loadable("x", 3, threading.Event())

    assert len([call for call in engine.calls("docker", "exec") if call[2:] == ["ctr", "version"]]) == 3


def test_nodes_are_told_control_planes_first_with_their_roles(engine: Any) -> None:
    engine.add_cluster("x")
    engine.add_cluster("xx")

    assert [(each.name, each.role) for each in node.nodes("x")] == [
        ("x-control-plane", "control-plane"),
        ("x-worker", "worker"),
        ("x-worker2", "worker"),
    ]


def test_what_a_node_reads_from_standard_input_is_passed_through(engine: Any) -> None:
    node.run_in_node("x-worker", ["cat"], stdin="text")

    assert engine.calls("docker", "exec") == [["exec", "--interactive", "x-worker", "cat"]]
