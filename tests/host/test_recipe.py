"""How an engine is installed: from which source of this machine's own, and what becomes of it when apt refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof.errors import EngineError
from schedproof.host import apt, record
from schedproof.host.machine import Machine
from schedproof.host.recipe import PIN, SOURCES, install, recipe
from schedproof.host.sources import sources

KEY_BLOCK = """\
Types: deb deb-src
URIs: https://mirror.example/debian/
Suites: bookworm
Components: main contrib
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc=
 -----END PGP PUBLIC KEY BLOCK-----
"""


def _apt_sources(root: Path, text: str, name: str = "debian.sources") -> None:
    (root / "etc/apt/sources.list.d/debian.sources").unlink()
    (root / "etc/apt" / ("sources.list" if name == "sources.list" else f"sources.list.d/{name}")).write_text(text)


def _new_source(machine: Machine) -> str:
    return dict(recipe(machine).files)[SOURCES]


def test_debian_12_takes_docker_from_the_next_suite_of_its_own_mirror(machine: Machine) -> None:
    chosen = recipe(machine)
    assert chosen.packages == ("docker.io/trixie", "containerd/trixie")
    assert _new_source(machine).splitlines()[1:] == [
        "Types: deb",
        "URIs: http://mirror.example/debian",
        "Suites: trixie",
        "Components: main",
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg",
    ]
    assert "Pin: release n=trixie\nPin-Priority: 100\n" in dict(chosen.files)[PIN]


@pytest.mark.parametrize(
    ("line", "signed_by"),
    [
        ("deb http://mirror.example/debian bookworm main", None),
        ("deb [signed-by=/k.gpg arch=amd64] http://mirror.example/debian bookworm main contrib # ours", "/k.gpg"),
        ("deb\t[ signed-by=/k.gpg ]\thttp://mirror.example/debian\tbookworm\tmain", "/k.gpg"),
    ],
)
def test_a_source_in_one_line_is_understood(line: str, signed_by: str | None, machine: Machine, root: Path) -> None:
    others = "deb-src http://mirror.example/debian bookworm main\n# deb http://old.example/debian bookworm main\n"
    _apt_sources(root, f"{others}{line}\n", "sources.list")
    text = _new_source(machine)
    assert "URIs: http://mirror.example/debian\n" in text
    assert ("Signed-By" in text) == (signed_by is not None)
    assert signed_by is None or f"Signed-By: {signed_by}\n" in text


def test_a_key_within_a_source_goes_with_it(machine: Machine, root: Path) -> None:
    _apt_sources(root, KEY_BLOCK)
    assert _new_source(machine).endswith(
        "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc=\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )


def test_a_source_that_is_switched_off_is_none(machine: Machine, root: Path) -> None:
    _apt_sources(root, KEY_BLOCK + "Enabled: no\n")
    assert list(sources(machine)) == []
    with pytest.raises(EngineError, match=r"(?s)no source of bookworm in /etc/apt.*install Docker by hand"):
        recipe(machine)


@pytest.mark.parametrize(
    "release",
    [
        'ID=debian\nVERSION_ID="13"\nVERSION_CODENAME=trixie',
        "ID=debian\nVERSION_CODENAME=forky",
        "ID=ubuntu\nVERSION_ID=24.04",
        'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID=22',
    ],
)
def test_newer_debians_and_ubuntu_have_a_docker_that_will_do(release: str, machine: Machine, root: Path) -> None:
    (root / "etc/os-release").write_text(release)
    assert recipe(machine).packages == ("docker.io",)
    assert recipe(machine).files == ()


def test_older_debians_are_refused(machine: Machine, root: Path) -> None:
    (root / "etc/os-release").write_text('ID=debian\nVERSION_ID="11"\nVERSION_CODENAME=bullseye\n')
    with pytest.raises(EngineError, match="its Docker is too old"):
        recipe(machine)


@pytest.mark.usefixtures("engine_down", "apt_get")
def test_what_is_ours_is_written_down_before_apt_begins(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APT_TROUBLE", "full")
    with pytest.raises(apt.AptFailed):
        install(recipe(machine), machine)
    noted = record.read()
    assert noted.files == sorted((SOURCES, PIN))
    assert noted.packages == ["docker.io", "runc"]


@pytest.mark.usefixtures("engine_down", "apt_get")
def test_packages_that_nobody_has_leave_nothing_behind(
    machine: Machine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APT_TROUBLE", "unknown")
    with pytest.raises(apt.AptFailed, match="Unable to locate package"):
        install(recipe(machine), machine)
    assert record.read().empty
    assert not (root / SOURCES).exists()
    assert not (root / PIN).exists()


@pytest.mark.usefixtures("engine_down")
def test_a_source_that_cannot_be_fetched_does_not_matter_when_the_packages_are_known(
    machine: Machine, apt_get: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APT_TROUBLE", "update")
    install(recipe(machine), machine)
    assert sum("update" in call for call in apt_get.calls) == apt.ATTEMPTS


@pytest.mark.usefixtures("engine_down", "apt_get")
def test_lists_that_cannot_be_fetched_are_the_reason_when_packages_are_unknown(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APT_TROUBLE", "update unknown")
    with pytest.raises(apt.AptFailed, match=r"(?s)apt-get update.*Failed to fetch.*check the network"):
        install(recipe(machine), machine)


@pytest.mark.usefixtures("engine_down", "apt_get")
def test_an_interrupted_dpkg_is_finished_first(machine: Machine, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APT_TROUBLE", "interrupted")
    dpkg = fake("dpkg")
    install(recipe(machine), machine)
    assert dpkg.calls == [["--configure", "-a"]]


def test_where_the_command_line_is_a_package_of_its_own_it_is_installed_too(
    machine: Machine, guarded: Path, apt_get: Any, fake: Any
) -> None:
    (guarded / "docker").unlink()
    fake("apt-cache", "print('Package: docker-cli')")
    install(recipe(machine), machine)
    assert apt_get.calls[-1][-3:] == ["docker.io/trixie", "containerd/trixie", "docker-cli/trixie"]
