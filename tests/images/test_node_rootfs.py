"""The Debian system below a node image: this machine's mirror, whole or not at all, and packages taken out of it."""

from __future__ import annotations

import io
import os
import platform
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from schedproof import folders
from schedproof.command import CommandFailed
from schedproof.errors import ImageError
from schedproof.images import node_rootfs
from schedproof.progress import Step

BOOKWORM = {"ID": "debian", "VERSION_CODENAME": "bookworm", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"}
TARGETS = """http://mirror.example/debian/ bookworm main
http://mirror.example/debian/ bookworm main
http://mirror.example/debian/ bookworm contrib
http://mirror.example/debian/ bookworm-updates main
http://mirror.example/debian/ bookworm-backports main
http://mirror.example/debian-security/ bookworm-security main
http://mirror.example/debian/ trixie main
http://vendor.example/ nodistro main
"""


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch, fake: Any) -> Any:
    """A Debian 12 machine whose apt knows a mirror, and a mmdebstrap that writes a file."""
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: dict(BOOKWORM))
    fake("apt-get", f"print({TARGETS!r})")
    fake("apt-config", "print('Acquire \"\";'); print('Acquire::http::Proxy \"http://proxy.example:3128\";')")
    return fake("mmdebstrap", "open(argv[argv.index('bookworm') + 1], 'w').write('a system')")


@pytest.mark.usefixtures("debian")
def test_the_mirror_is_the_one_that_this_machine_uses() -> None:
    suite, lines = node_rootfs.debian_sources()

    assert suite == "bookworm"
    assert lines == [
        "deb http://mirror.example/debian/ bookworm main",
        "deb http://mirror.example/debian/ bookworm-updates main",
        "deb http://mirror.example/debian-security/ bookworm-security main",
    ]


def test_another_system_than_debian_is_refused_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"ID": "fedora", "PRETTY_NAME": "Fedora 44"})

    with pytest.raises(ImageError, match="Fedora 44") as failure:
        node_rootfs.debian_sources()
    assert "NODE_IMAGE=" in str(failure.value)


def test_a_machine_without_a_source_for_its_suite_is_refused(monkeypatch: pytest.MonkeyPatch, fake: Any) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: dict(BOOKWORM))
    fake("apt-get", "print('http://vendor.example/ nodistro main')")

    with pytest.raises(ImageError, match="a source for Debian bookworm"):
        node_rootfs.debian_sources()


def test_the_system_is_made_once_and_kept(debian: Any) -> None:
    first, second = node_rootfs.ensure_rootfs(), node_rootfs.ensure_rootfs()

    assert first == second
    assert first.read_text() == "a system"
    assert len(debian.calls) == 1
    (call,) = debian.calls
    assert call[-3:] == node_rootfs.debian_sources()[1]
    assert '--aptopt=Acquire::http::Proxy "http://proxy.example:3128";' in call


def test_a_system_older_than_a_month_is_made_anew(debian: Any) -> None:
    os.utime(node_rootfs.ensure_rootfs(), (1, 1))
    node_rootfs.ensure_rootfs()

    assert len(debian.calls) == 2


@pytest.mark.usefixtures("debian")
def test_a_failed_mmdebstrap_leaves_nothing(fake: Any) -> None:
    fake(
        "mmdebstrap",
        "open(argv[argv.index('bookworm') + 1], 'w').write('ha'); print('E: no', file=sys.stderr); sys.exit(1)",
    )

    with pytest.raises(CommandFailed, match="E: no"):
        node_rootfs.ensure_rootfs()
    assert list((folders.cache() / "images").iterdir()) == []


@pytest.mark.usefixtures("debian")
def test_left_overs_of_a_killed_run_are_removed() -> None:
    target = node_rootfs.ensure_rootfs()
    half = target.parent / f".{target.name}.abc.part"
    half.write_text("half a system")
    (target.parent / "mmdebstrap.xyz").mkdir()
    target.unlink()

    node_rootfs.ensure_rootfs()

    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_without_mmdebstrap_and_root_the_package_is_named(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (guarded / "mmdebstrap").unlink()
    monkeypatch.setenv("PATH", str(guarded))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    with pytest.raises(ImageError, match="apt-get install --no-install-recommends mmdebstrap"):
        node_rootfs.require_mmdebstrap(Step(""))


def test_root_installs_mmdebstrap(guarded: Path, monkeypatch: pytest.MonkeyPatch, fake: Any) -> None:
    (guarded / "mmdebstrap").unlink()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    apt = fake("apt-get")

    node_rootfs.require_mmdebstrap(Step(""))

    assert [call[0] for call in apt.calls] == ["update", "install"]
    assert apt.calls[1][-1] == "mmdebstrap"


STATUS = """Package: tool
Depends: libone (>= 1), shell | other

Package: libone
Depends: libtwo:any

Package: libtwo
"""


def system(tmp_path: Path) -> Path:
    """A system of three packages, with /lib merged into /usr as Debian 12 has it."""
    files = {
        "./usr/bin/tool": "tool",
        "./usr/lib/one.so": "one",
        "./usr/lib/two.so": "two",
        "./usr/bin/shell": "shell",
        "./var/lib/dpkg/status": STATUS,
        "./var/lib/dpkg/info/tool.list": "/.\n/usr\n/usr/bin\n/usr/bin/tool\n/usr/share/doc/left-out\n",
        "./var/lib/dpkg/info/libone:amd64.list": "/.\n/lib\n/lib/one.so\n",
        "./var/lib/dpkg/info/libtwo:amd64.list": "/.\n/usr/lib/two.so\n",
    }
    path = tmp_path / "system.tar"
    with tarfile.open(path, "w") as archive:
        for folder in ("./usr", "./usr/bin", "./usr/lib"):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, 99
            archive.addfile(entry)
        link = tarfile.TarInfo("./lib")
        link.type, link.linkname = tarfile.SYMTYPE, "usr/lib"
        archive.addfile(link)
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime = len(text), 99
            archive.addfile(entry, io.BytesIO(text.encode()))
    return path


def test_a_package_is_copied_with_its_libraries_and_nothing_else(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "layer.tar", "w") as layer:
        node_rootfs.copy_packages(system(tmp_path), ["tool"], layer)

    with tarfile.open(tmp_path / "layer.tar") as layer:
        members = {member.name: member for member in layer.getmembers()}
        content = layer.extractfile("usr/lib/one.so")
        assert content is not None
        assert content.read() == b"one"
    assert set(members) == {"lib", "usr", "usr/bin", "usr/bin/tool", "usr/lib", "usr/lib/one.so", "usr/lib/two.so"}
    assert members["lib"].linkname == "usr/lib"
    assert {member.mtime for member in members.values()} == {0}


def test_a_package_that_the_system_lacks_is_named(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "layer.tar", "w") as layer, pytest.raises(ImageError, match="package shell"):
        node_rootfs.copy_packages(system(tmp_path), ["shell"], layer)


def test_the_package_list_has_every_package_once_and_none_with_a_space() -> None:
    packages = node_rootfs.packages()

    assert len(packages) == len(set(packages)) > 10
    assert not [name for name in packages if not name.replace("-", "").replace("0", "").isalnum()]
