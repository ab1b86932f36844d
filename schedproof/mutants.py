"""Mutants: inputs of a claim that are broken on purpose, to show that the claim notices.

A file below ``e2e/mutants/<suite>/`` declares them::

    @mutant(claim="pod3-bound-by-my-scheduler", input="pod3", fault="N1: a typing error in the pod's schedulerName",
            expect="no scheduler serves this name", renames=True)
    def another_name(pod: Object) -> None:
        pod["spec"]["schedulerName"] = "my-schedular"

Under its mutant a claim must end *false* (not *harness*) with the expected sentence, while its unbroken twin is proved.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedproof.errors import UsageError

Break = Callable[[Any], Any]
"""Gets the input and breaks it in place, or returns another one in its stead; for ``input="world"`` the World."""

WORLD = "world"
"""The input of a mutant that disturbs the cluster instead of an object."""

RENAMES_SHARE = 3
"""At most one mutant of so many may merely change a name: such a one is cheap and shows little."""

_MARK = "__schedproof_mutant__"


@dataclass(frozen=True)
class Mutant:
    """One declared mutant.

    Attributes:
        name: Its function's name with dashes; unique among the mutants of its claim.
        claim: Id of the claim that must notice.
        input: What is broken: the name under which the claim asks for it, or ``world``.
        fault: The real fault that it stands for, with the case's id.
        expect: A sentence of the failure message; ``*`` stands for anything (a name that differs from run to run).
        renames: Whether it merely changes a name.
        function: Does it.
        where: ``file:line`` of the declaration.
    """

    name: str
    claim: str
    input: str
    fault: str
    expect: str
    renames: bool
    function: Break
    where: str

    def expected_in(self, message: str) -> bool:
        """Say whether the expected sentence stands in a message; line breaks and indentation do not matter."""
        parts = [re.escape(" ".join(part.split())) for part in self.expect.split("*")]
        return re.search(".*?".join(parts), " ".join(message.split())) is not None


def mutant(*, claim: str, input: str, fault: str, expect: str, renames: bool = False) -> Callable[[Break], Break]:  # noqa: A002 - the vocabulary's word
    """Declare a function as a mutant; see :class:`Mutant` for the arguments and the module for an example."""

    def declare(function: Break) -> Break:
        # Wrapped functions keep their place; the first line is the decorator's.
        where = f"{inspect.getsourcefile(function)}:{function.__code__.co_firstlineno}"
        name = function.__name__.strip("_").replace("_", "-")
        setattr(function, _MARK, Mutant(name, claim, input, fault, expect, renames, function, where))
        return function

    return declare


def folders_for(claims: Path) -> list[Path]:
    """Return the folders of mutants that belong to a folder of claims, those that exist.

    ``e2e/documents`` has ``e2e/mutants/documents``; a folder of claims somewhere else may have ``mutants`` inside.
    """
    candidates = (claims.parent / "mutants" / claims.name, claims / "mutants")
    return [folder for folder in candidates if folder.is_dir()]


def load(folder: Path) -> list[Mutant]:
    """Return the mutants that the files of a folder (and of its folders) declare, in order of file and line.

    Raises:
        UsageError: A file cannot be imported; the message names it.
    """
    found: list[Mutant] = []
    for path in sorted(folder.rglob("*.py")):
        module = _imported(path)
        found += [mark for value in vars(module).values() if isinstance(mark := getattr(value, _MARK, None), Mutant)]
    return found


def problems(mutants: Sequence[Mutant], claims: Collection[str]) -> list[str]:
    """Return what is wrong with the declarations of one folder, each with file and line; nothing when all is well.

    Args:
        mutants: All mutants of the folder.
        claims: Ids of all claims of the folder's suite.
    """
    wrong: list[str] = []
    seen: dict[tuple[str, str], str] = {}
    for one in mutants:
        if one.claim not in claims:
            wrong.append(f"{one.where}: there is no claim {one.claim!r}{_did_you_mean(one.claim, claims)}")
        wrong += [
            f"{one.where}: the mutant {one.name} has an empty {field}"
            for field in ("input", "fault", "expect")
            if not getattr(one, field).strip(" *")
        ]
        if first := seen.get((one.claim, one.name)):
            wrong.append(f"{one.where}: a mutant {one.name} of {one.claim} is declared already in {first}")
        seen.setdefault((one.claim, one.name), one.where)
    renaming = [one for one in mutants if one.renames]
    if len(renaming) * RENAMES_SHARE > len(mutants):
        wrong.append(
            f"{renaming[-1].where}: {len(renaming)} of {len(mutants)} mutants merely change a name; "
            f"at most one of {RENAMES_SHARE} may"
        )
    return wrong


def _did_you_mean(name: str, names: Collection[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def _imported(path: Path) -> Any:
    name = f"schedproof_mutants_{abs(hash(path.absolute()))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is a Python file with mutants", cure="rename or remove it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if not isinstance(error, (SyntaxError, ImportError, NameError, TypeError, AttributeError, ValueError)):
            raise
        line = error.lineno if isinstance(error, SyntaxError) else _line_in(path, error)
        raise UsageError(
            f"{path}:{line or 1}: the mutants can be imported",
            seen=f"{type(error).__name__}: {error}",
            cure="correct that line",
        ) from error
    return module


def _line_in(path: Path, error: BaseException) -> int:
    line, trace = 0, error.__traceback__
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
