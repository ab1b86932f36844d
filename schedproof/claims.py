"""The claims as their files declare them: read from the source, without importing or running anything.

One claim is one test function with ``@pytest.mark.claim("an-id", lines=["A-44"])``. The document lines are those of
``docs/documents.md``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schedproof.errors import UsageError

DOCUMENTS = Path("docs/documents.md")
"""Where the document lines are listed, below the top folder of a checkout."""

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""The form of a claim's id."""

WITHOUT = "## Lines without a claim"
"""Heading in that file of the lines that no claim proves, each with the reason."""

_LINE = re.compile(r"^\| ([A-Z]-\d+) \| (.*?) \|", re.MULTILINE)


@dataclass(frozen=True)
class Claim:
    """One claim.

    Attributes:
        id: Stable id, e.g. ``pod3-bound-by-my-scheduler``.
        lines: Ids of the document lines it proves.
        sentence: The claim as a sentence.
        path: File of the test.
        line: Line of the test function, from 1.
    """

    id: str
    lines: tuple[str, ...]
    sentence: str
    path: Path
    line: int

    @property
    def where(self) -> str:
        """``file:line``, for messages."""
        return f"{self.path}:{self.line}"


def sentence(test: str, docstring: str | None) -> str:
    """Return a claim's sentence: the first line of its docstring, else the test's name in words."""
    first = (docstring or "").strip().partition("\n")[0].strip()
    return first or test.removeprefix("test_").replace("_", " ").strip()


def document_lines(documents: Path) -> dict[str, str]:
    """Return the lines of ``docs/documents.md``: id -> words; empty when there is no such file."""
    return _rows(_parts(documents)[0])


def reasons(documents: Path) -> dict[str, str]:
    """Return why there is no claim for a line of ``docs/documents.md``: id -> reason."""
    return _rows(_parts(documents)[1])


def _parts(documents: Path) -> tuple[str, str]:
    text = documents.read_text(encoding="utf-8") if documents.is_file() else ""
    lines, _, without = text.partition(f"\n{WITHOUT}\n")
    return lines, without


def _rows(text: str) -> dict[str, str]:
    return {match[1]: match[2].strip() for match in _LINE.finditer(text)}


def scan(folder: Path) -> list[Claim]:
    """Return the claims of a folder's ``test_*.py`` files (not of its folders), in order of file and line.

    Raises:
        UsageError: A file is no Python; the message names the line.
    """
    found: list[Claim] = []
    for path in sorted(folder.glob("test_*.py")):
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError) as error:
            line = getattr(error, "lineno", 1)
            raise UsageError(f"{path}:{line}: valid Python", seen=str(error), cure="correct that line") from error
        found += _claims(tree, path)
    return found


def _claims(tree: ast.Module, path: Path) -> Iterator[Claim]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.claim"):
                name, lines = _arguments(decorator)
                words = sentence(node.name, ast.get_docstring(node))
                yield Claim(name, tuple(lines), words, path, node.lineno)


def _arguments(call: ast.Call) -> tuple[str, list[str]]:
    name, lines = "", []
    if call.args and isinstance(call.args[0], ast.Constant):
        name = str(call.args[0].value)
    for keyword in call.keywords:
        if keyword.arg == "lines" and isinstance(keyword.value, ast.List | ast.Tuple):
            lines = [str(element.value) for element in keyword.value.elts if isinstance(element, ast.Constant)]
    return name, lines
