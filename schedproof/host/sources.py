"""Where this machine's own packages come from: apt's source files, both forms (sources.list(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from schedproof.host.machine import Machine

_ONE_LINE = re.compile(r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$")

_OPTIONS = {"signed-by": "Signed-By", "trusted": "Trusted"}
"""Options that decide whether a source is believed; a further suite of the same mirror needs the same."""


@dataclass(frozen=True)
class Source:
    """One source of packages.

    Attributes:
        uris: Mirrors.
        suites: e.g. ``bookworm``.
        components: e.g. ``main``.
        options: ``Signed-By`` and ``Trusted`` as they stand there (a keyring's path, or a key block of several lines).
    """

    uris: tuple[str, ...]
    suites: tuple[str, ...]
    components: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def stanza(self, suite: str) -> str:
        """Return the deb822 form of the same mirror with another suite."""
        lines = ["Types: deb", f"URIs: {' '.join(self.uris)}", f"Suites: {suite}", "Components: main"]
        lines += [f"{name}: {value}" for name, value in self.options]
        return "\n".join(lines) + "\n"


def own_source(machine: Machine, codename: str) -> Source | None:
    """Return the source that gives this machine the main packages of its release; None when there is none."""
    fitting = (source for source in sources(machine) if codename in source.suites and "main" in source.components)
    return next(fitting, None)


def sources(machine: Machine) -> Iterator[Source]:
    """Yield the sources of binary packages that are switched on, in apt's order."""
    yield from _one_line_sources(machine.text("etc/apt/sources.list"))
    folder = machine.path("etc/apt/sources.list.d")
    for path in sorted(folder.iterdir()) if folder.is_dir() else []:
        text = machine.text(str(path.relative_to(machine.root)))
        if path.suffix == ".list":
            yield from _one_line_sources(text)
        elif path.suffix == ".sources":
            yield from _deb822_sources(text)


def _one_line_sources(text: str) -> Iterator[Source]:
    for line in text.splitlines():
        if found := _ONE_LINE.match(line.partition("#")[0].strip()):
            pairs = [word.split("=", 1) for word in (found["options"] or "").split() if "=" in word]
            yield Source(
                (found["uri"],),
                (found["suite"],),
                tuple(found["components"].split()),
                _options({name.lower(): value for name, value in pairs}),
            )


def _deb822_sources(text: str) -> Iterator[Source]:
    without_comments = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for paragraph in re.split(r"\n\s*\n", without_comments):
        fields: dict[str, str] = {}
        name = ""
        for line in paragraph.splitlines():
            if line[:1] in (" ", "\t"):
                fields[name] = f"{fields.get(name, '')}\n{line}"
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                fields[name] = value.strip()
        if "deb" in fields.get("types", "").split() and fields.get("enabled", "yes").lower() not in ("no", "false"):
            yield Source(
                tuple(fields.get("uris", "").split()),
                tuple(fields.get("suites", "").split()),
                tuple(fields.get("components", "").split()),
                _options(fields),
            )


def _options(fields: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((_OPTIONS[name], fields[name]) for name in _OPTIONS if name in fields)
