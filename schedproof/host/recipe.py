"""How an engine is installed on this machine, decided before anything is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from schedproof import folders
from schedproof.errors import EngineError
from schedproof.host import apt, record
from schedproof.host.machine import Machine
from schedproof.host.sources import Source, own_source
from schedproof.progress import Step, progress

LAST_WITHOUT = 12
"""Debian 12 has Docker 20.10, which cannot start kind's nodes where CAP_SYS_RESOURCE is missing. The packages of the
next Debian install on it as they are."""

NEXT_SUITE = "trixie"
"""Debian 13: Docker 26.1, containerd 1.7."""

SOURCES = f"etc/apt/sources.list.d/schedproof-{NEXT_SUITE}.sources"
PIN = f"etc/apt/preferences.d/schedproof-{NEXT_SUITE}"

DATA = "var/lib/docker"
"""Where an engine keeps images, containers and volumes unless told otherwise."""

BY_HAND = "install Docker by hand (https://docs.docker.com/engine/install), start it, then run again"

_OURS = "# Made by schedproof, for docker.io and containerd alone; `make clean` removes it."


@dataclass(frozen=True)
class Recipe:
    """What would be installed.

    Attributes:
        packages: apt's words for them, e.g. ``docker.io/trixie``.
        origin: Where from, in words.
        files: Files to be made, place below the root -> text.
    """

    packages: tuple[str, ...]
    origin: str
    files: tuple[tuple[str, str], ...] = ()

    def lines(self) -> list[str]:
        """Return what the user is told beforehand."""
        names = ", ".join(package.partition("/")[0] for package in self.packages)
        told = [f"installs the packages {names} and what they need, from {self.origin}"]
        if self.files:
            told.append(
                f"makes {' and '.join('/' + place for place, _ in self.files)} (nothing else is taken from there)"
            )
        return told


def recipe(machine: Machine) -> Recipe:
    """Return how an engine is installed here.

    Raises:
        EngineError: This machine has no apt, or a release that schedproof knows no way for.
    """
    release = machine.os_release
    names = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    called = release.get("PRETTY_NAME") or release.get("ID") or machine.system
    if machine.which("apt-get") is None or not names & {"debian", "ubuntu"}:
        raise EngineError(
            "schedproof knows how to install an engine here", seen=f"{called}: neither Debian nor Ubuntu", cure=BY_HAND
        )
    version = release.get("VERSION_ID", "")
    if release.get("ID") != "debian" or not version.isdigit() or int(version) > LAST_WITHOUT:
        return Recipe(("docker.io",), f"{called} (the mirror that this machine uses)")
    codename = release.get("VERSION_CODENAME", "")
    source = own_source(machine, codename) if int(version) == LAST_WITHOUT else None
    if source is None:
        why = f"no source of {codename} in /etc/apt" if int(version) == LAST_WITHOUT else "its Docker is too old"
        raise EngineError("schedproof knows how to install an engine here", seen=f"{called}: {why}", cure=BY_HAND)
    return Recipe(
        (f"docker.io/{NEXT_SUITE}", f"containerd/{NEXT_SUITE}"),
        f"Debian {NEXT_SUITE} ({source.uris[0]}, the mirror that this machine uses)",
        _next_suite(source),
    )


def _next_suite(source: Source) -> tuple[tuple[str, str], ...]:
    # Below 500, so that no other package is taken from there unless it is asked for by name.
    pin = f"{_OURS}\nPackage: *\nPin: release n={NEXT_SUITE}\nPin-Priority: 100\n"
    return ((SOURCES, f"{_OURS}\n{source.stanza(NEXT_SUITE)}"), (PIN, pin))


def install(chosen: Recipe, machine: Machine, said: Callable[[str], None] = progress.line) -> None:
    """Install an engine; what is ours is written down before each step, so that it can be undone from any point.

    Raises:
        EngineError: apt refused; the message has its words.
    """
    data = machine.path(DATA)
    before = record.read()
    noted = before.model_copy(deep=True)
    with progress.step(f"container engine: {', '.join(chosen.packages)}") as step:
        noted.files = sorted({*noted.files, *(place for place, _ in chosen.files)})
        if not data.exists():
            noted.data = DATA
        record.write(noted)
        for place, text in chosen.files:
            folders.write_text(machine.path(place), text)
        lists = _updated(step)
        packages = list(chosen.packages)
        if machine.which("docker") is None and apt.has("docker-cli"):
            # Debian 13 has the command line in a package of its own; older ones, and Ubuntu, have it in docker.io.
            packages.append(packages[0].replace("docker.io", "docker-cli"))
        try:
            added, upgraded = apt.simulate(packages, step)
        except apt.AptFailed as refused:
            # Nothing was installed, so nothing is left behind.
            for place, _ in chosen.files:
                machine.path(place).unlink(missing_ok=True)
            record.write(before)
            raise lists or refused from refused
        step.say(f"{len(added)} packages: {', '.join(added)}")
        if upgraded:
            said(f"  upgraded with it: {', '.join(upgraded)}")
        noted.packages = sorted({*noted.packages, *added})
        record.write(noted)
        apt.install(packages, step)


def _updated(step: Step) -> apt.AptFailed | None:
    """Fetch the lists; a source that fails may be one that nobody needs here, so the error is kept until it matters."""
    try:
        apt.update(step)
    except apt.AptFailed as error:
        step.say("apt-get update failed; going on with the lists that are there")
        return error
    return None
