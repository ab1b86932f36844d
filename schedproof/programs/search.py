"""Have programs: ask the providers in the table's order, check what comes, and keep it."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from schedproof.errors import ProgramError, UsageError
from schedproof.programs import cache, version_check
from schedproof.programs.cache import Cached
from schedproof.programs.gobuild import waited_lock
from schedproof.programs.module import Module
from schedproof.programs.path import OnPath
from schedproof.programs.provider import PassedOver, Provider, Wanted
from schedproof.programs.release import Release
from schedproof.programs.table import Family, Program, checked_version, lookup, names
from schedproof.progress import Step, progress
from schedproof.settings import Settings

MAKERS: dict[str, Provider] = {"release": Release(), "module": Module()}
"""Providers whose files go into the cache."""


def ensure(program_names: Sequence[str], version: str, settings: Settings, *, exact: bool = False) -> dict[str, Path]:
    """Return where each program lies, and make the ones that are missing.

    Missing programs of one family (all of Kubernetes', say) are built by one ``go build``.

    Args:
        program_names: Names of the table.
        version: Of all of them, such as ``v1.37.2``; empty takes each one's pinned version.
        settings: ``settings.providers`` may force a provider, by the program's or the family's name.
        exact: Never take one from PATH, which may be of another version: for what goes into an image.

    Raises:
        UsageError: No such program, version or provider.
        ProgramError: No provider has it (the message says why, one by one), or what came is not what its name says.
    """
    groups: dict[tuple[Family, str], list[Program]] = {}
    for name in dict.fromkeys(program_names):
        program = lookup(name)
        groups.setdefault((program.family, checked_version(program, version)), []).append(program)
    found: dict[str, Path] = {}
    for (_, chosen), programs in groups.items():
        found.update(_Search(programs, chosen, settings, exact=exact).run())
    return {name: found[name] for name in program_names}


class _Search:
    """One family's programs, one version."""

    def __init__(self, programs: Sequence[Program], version: str, settings: Settings, *, exact: bool) -> None:
        self._family = programs[0].family
        self._version = version
        self._exact = exact
        self._forced = {program.name: _forced(program, settings) for program in programs}
        self._asked = list(programs)
        self._missing = list(programs)
        self._found: dict[str, Path] = {}
        self._passed: list[tuple[str, str, PassedOver]] = []

    def run(self) -> dict[str, Path]:
        """Return all of them."""
        shelf = cache.shelf(self._family.name, self._version)
        self._look(shelf)
        if not self._missing:
            return self._found
        with progress.step(self._title()) as step:
            lock = f"programs-{self._family.name}-{self._version}"
            with waited_lock(lock, lambda: step.say("waits for another run that makes the same")):
                self._passed.clear()
                self._look(shelf)  # the other run may have made them
                self._tell(step, self._passed)
                if self._missing:
                    _sweep(shelf)
                    try:
                        self._make(shelf, step)
                    finally:
                        shutil.rmtree(shelf / _MAKING, ignore_errors=True)
                        with contextlib.suppress(OSError):  # not empty, as it should be
                            shelf.rmdir()
        return self._found

    def _look(self, shelf: Path) -> None:
        """Take what needs no making."""
        for program in list(self._missing):
            forced = self._forced[program.name]
            if program.from_path and not self._exact and forced in ("", "path"):
                self._ask(OnPath(), [program], shelf)
        cached: dict[str, list[Program]] = {}
        for program in self._missing:
            if self._forced[program.name] != "path":
                cached.setdefault(self._forced[program.name].replace("cache", ""), []).append(program)
        for only_from, programs in cached.items():
            self._ask(Cached(only_from), programs, shelf)

    def _make(self, shelf: Path, step: Step) -> None:
        for name, provider in MAKERS.items():
            wanted = [
                program
                for program in self._missing
                if name in program.sources and self._forced[program.name] in ("", name)
            ]
            if wanted:
                already = len(self._passed)
                forced = all(self._forced[program.name] == name for program in wanted)
                self._ask(provider, wanted, shelf, step=step, forced=forced)
                self._tell(step, self._passed[already:])
        if self._missing:
            raise self._failure()

    def _ask(
        self,
        provider: Provider,
        programs: Sequence[Program],
        shelf: Path,
        *,
        step: Step | None = None,
        forced: bool = False,
    ) -> None:
        folder = shelf / _MAKING / provider.name
        if step is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise cache.unwritable(folder, error) from error
        wanted = Wanted(programs, self._version, forced)
        answers = provider.offer(wanted, folder, step or Step(""))
        for program in programs:
            answer = answers[program.name]
            if isinstance(answer, PassedOver):
                self._passed.append((provider.name, program.name, answer))
                continue
            if step is not None:
                step.note(f"checking {program.name}")
                version_check.require(program, answer, self._version)
                answer = cache.store(answer, shelf / program.name, version=self._version, provider=provider.name)
            self._found[program.name] = answer
            self._missing.remove(program)

    def _tell(self, step: Step, passed: Iterable[tuple[str, str, PassedOver]]) -> None:
        for line in _grouped(passed, {program.name for program in self._asked}):
            step.say(line)

    def _title(self) -> str:
        if len(self._missing) <= _NAMED:
            return f"{names(self._missing)} {self._version}"
        return f"{len(self._missing)} programs of {self._family.name} {self._version}"

    def _failure(self) -> ProgramError:
        missing = {program.name for program in self._missing}
        concerned = [line for line in self._passed if line[1] in missing]
        forced = sorted({value for name, value in self._forced.items() if value and name in missing})
        return ProgramError(
            f"{names(self._missing)} {self._version} can be had" + (f" from {', '.join(forced)}" if forced else ""),
            seen="\n".join(_grouped(concerned, missing)),
            cause=f"PROVIDERS= forces {', '.join(forced)}, nothing else was asked" if forced else "",
            cure="\nor ".join(dict.fromkeys(passed.cure for *_, passed in concerned if passed.cure)),
        )


_MAKING = ".making"

_NAMED = 3
"""So many programs are named in the title of a step."""


def _sweep(shelf: Path) -> None:
    """Remove what a killed run left; the lock of this shelf is ours."""
    for place in (*shelf.glob(".*.part"), shelf / _MAKING):
        if place.is_dir():
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.unlink(missing_ok=True)


def _forced(program: Program, settings: Settings) -> str:
    chosen = settings.providers.get(program.name) or settings.providers.get(program.family.name) or ""
    if chosen and chosen not in program.sources:
        raise UsageError(
            f"PROVIDERS names a provider of {program.name}",
            seen=f"{program.name}={chosen}",
            cure=f"one of {', '.join(program.sources)} (docs/programs.md)",
        )
    return chosen


def _grouped(passed: Iterable[tuple[str, str, PassedOver]], everything: set[str]) -> list[str]:
    """Return one line for each provider and reason, with the programs that it holds for unless those are all."""
    lines: dict[tuple[str, str], list[str]] = {}
    for provider, program, reason in passed:
        lines.setdefault((provider, reason.why), []).append(program)
    return [
        f"{provider} passed over" + ("" if set(whose) == everything else f" for {', '.join(whose)}") + f": {why}"
        for (provider, why), whose in lines.items()
    ]
