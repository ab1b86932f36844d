"""Write images as files, without an engine: an OCI layout whose layers are the same, byte for byte, each time."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_CONFIG = "application/vnd.oci.image.config.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"

SEARCH_PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True)
class Blob:
    """A file of the layout, named by what is in it."""

    media_type: str
    digest: str
    size: int

    def descriptor(self, **more: Any) -> dict[str, Any]:
        """Return it as the OCI documents refer to it."""
        return {"mediaType": self.media_type, "digest": self.digest, "size": self.size, **more}


class Layout:
    """A folder in the OCI image layout (https://github.com/opencontainers/image-spec), one or more images.

    Args:
        folder: An empty folder.
        architecture: Of the programs in it, in Go's words (``amd64``).
    """

    def __init__(self, folder: Path, architecture: str) -> None:
        self._folder = folder
        self._architecture = architecture
        self._manifests: list[dict[str, Any]] = []
        (folder / "blobs" / "sha256").mkdir(parents=True)

    def layer(self, fill: Callable[[tarfile.TarFile], None]) -> Blob:
        """Write a layer; ``fill`` adds the files to the tar archive that it gets."""
        part = self._folder / "blobs" / "layer.part"
        with part.open("wb") as raw:
            writer = _Hashing(raw)
            with tarfile.open(fileobj=writer, mode="w|", format=tarfile.PAX_FORMAT) as archive:
                fill(archive)
        return self._named(part, _LAYER, writer.hash.hexdigest(), writer.size)

    def image(self, name: str, layers: Sequence[Blob], *, entrypoint: Sequence[str] = ()) -> str:
        """Add an image under its full name and return its id (config digest)."""
        config = self._json(
            _CONFIG,
            {
                "architecture": self._architecture,
                "os": "linux",
                "config": {"Env": [SEARCH_PATH], "Entrypoint": list(entrypoint) or None, "WorkingDir": "/"},
                # A layer that is not compressed has one digest for both uses.
                "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in layers]},
            },
        )
        manifest = self._json(
            _MANIFEST,
            {
                "schemaVersion": 2,
                "mediaType": _MANIFEST,
                "config": config.descriptor(),
                "layers": [layer.descriptor() for layer in layers],
            },
        )
        self._manifests.append(
            manifest.descriptor(
                platform={"architecture": self._architecture, "os": "linux"},
                annotations={"io.containerd.image.name": name},
            )
        )
        return config.digest

    def finish(self) -> None:
        """Write the index of all images."""
        index = {"schemaVersion": 2, "mediaType": _INDEX, "manifests": self._manifests}
        (self._folder / "index.json").write_text(json.dumps(index), encoding="utf-8")
        (self._folder / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}', encoding="utf-8")

    def _json(self, media_type: str, data: dict[str, Any]) -> Blob:
        text = json.dumps(data, sort_keys=True).encode()
        part = self._folder / "blobs" / "json.part"
        part.write_bytes(text)
        return self._named(part, media_type, hashlib.sha256(text).hexdigest(), len(text))

    def _named(self, part: Path, media_type: str, digest: str, size: int) -> Blob:
        part.replace(self._folder / "blobs" / "sha256" / digest)
        return Blob(media_type, f"sha256:{digest}", size)


def add_file(archive: tarfile.TarFile, source: Path, name: str, *, mode: int = 0o755) -> None:
    """Add a file of root's, without the times and owners of this machine."""
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.size, entry.mode = source.stat().st_size, mode
    with source.open("rb") as content:
        archive.addfile(entry, content)


def add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    """Add a symbolic link."""
    entry = tarfile.TarInfo(name.lstrip("/"))
    entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, target, 0o777
    archive.addfile(entry)


class _Hashing(io.RawIOBase):
    """A file to write to that knows the digest and size of what went through it."""

    def __init__(self, raw: IO[bytes]) -> None:
        super().__init__()
        self._raw = raw
        self.hash = hashlib.sha256()
        self.size = 0

    def write(self, data: Any, /) -> int:
        self.hash.update(data)
        self.size += len(data)
        return self._raw.write(data)
