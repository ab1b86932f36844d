"""Images as files: what an OCI layout must hold, and that the same input gives the same bytes."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from pathlib import Path
from typing import Any

from schedproof.images.node_archive import Layout, add_file, add_link


def write(folder: Path, program: Path) -> Path:
    layout = Layout(folder, "amd64")
    layer = layout.layer(lambda archive: add_file(archive, program, "/usr/local/bin/prog"))
    other = layout.layer(lambda archive: add_link(archive, "/usr/bin/prog", "../local/bin/prog"))
    layout.image("example.org/prog:v1", [layer], entrypoint=["/usr/local/bin/prog"])
    layout.image("example.org/other:v1", [layer, other])
    layout.finish()
    return folder


def blob(folder: Path, descriptor: dict[str, Any]) -> Path:
    return folder / "blobs" / "sha256" / str(descriptor["digest"]).removeprefix("sha256:")


def program(tmp_path: Path) -> Path:
    path = tmp_path / "prog"
    path.write_bytes(b"\x7fELF" + bytes(3000))
    return path


def test_every_blob_is_named_by_its_content(tmp_path: Path) -> None:
    folder = write(tmp_path / "layout", program(tmp_path))

    blobs = list((folder / "blobs" / "sha256").iterdir())
    assert len(blobs) == 6  # two layers, two configs, two manifests; the shared layer once
    assert all(path.name == hashlib.sha256(path.read_bytes()).hexdigest() for path in blobs)
    assert [path.name for path in (folder / "blobs").iterdir()] == ["sha256"]


def test_images_are_found_by_their_full_names_and_lead_to_their_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "layout", program(tmp_path))

    first, second = json.loads((folder / "index.json").read_text())["manifests"]
    assert first["annotations"]["io.containerd.image.name"] == "example.org/prog:v1"
    manifest = json.loads(blob(folder, first).read_text())
    config = json.loads(blob(folder, manifest["config"]).read_text())
    assert config["config"]["Entrypoint"] == ["/usr/local/bin/prog"]
    assert config["rootfs"]["diff_ids"] == [layer["digest"] for layer in manifest["layers"]]
    assert blob(folder, manifest["layers"][0]).stat().st_size == manifest["layers"][0]["size"]
    assert json.loads(blob(folder, second).read_text())["layers"][0] == manifest["layers"][0]


def test_files_are_roots_and_programs_can_be_run(tmp_path: Path) -> None:
    source = program(tmp_path)
    source.chmod(0o600)
    folder = write(tmp_path / "layout", source)

    manifest = json.loads(blob(folder, json.loads((folder / "index.json").read_text())["manifests"][0]).read_text())
    with tarfile.open(blob(folder, manifest["layers"][0])) as layer:
        (entry,) = layer.getmembers()
    assert (entry.name, entry.mode, entry.uid, entry.gid) == ("usr/local/bin/prog", 0o755, 0, 0)


def test_the_same_program_gives_the_same_bytes_whatever_its_times(tmp_path: Path) -> None:
    source = program(tmp_path)
    first = write(tmp_path / "first", source)
    os.utime(source, (1, 1))
    second = write(tmp_path / "second", source)

    assert (first / "index.json").read_bytes() == (second / "index.json").read_bytes()
