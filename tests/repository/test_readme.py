"""The README says what the code says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from schedproof.report import tables

TOP = Path(__file__).parents[2]


@pytest.mark.parametrize("table", [tables.knobs, tables.exit_codes], ids=["knobs", "exit codes"])
def test_table_in_the_readme_is_the_one_in_the_code(table: Callable[[], Iterator[str]]) -> None:
    assert "\n".join(table()) in (TOP / "README.md").read_text(encoding="utf-8")


def test_every_package_is_listed_for_the_wheel() -> None:
    listed = set(tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    there = {".".join(path.parent.relative_to(TOP).parts) for path in (TOP / "schedproof").rglob("__init__.py")}
    assert listed == there | {"schedproof.manifests", "schedproof_pytest"}


def test_every_link_of_the_documents_leads_somewhere() -> None:
    broken = [
        f"{page.relative_to(TOP)}: {target}"
        for page in (TOP / "README.md", *(TOP / "docs").rglob("*.md"))
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert not broken
