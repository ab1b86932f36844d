"""The list of the documents' lines, and the claims and mutants of the suite that proves them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from schedproof import claims, mutants
from schedproof.data import CHECKOUT
from schedproof.report import claims as report

PAGE = CHECKOUT / "docs" / "documents.md"
SUITES = sorted(folder for folder in (CHECKOUT / "e2e").glob("*/") if any(folder.glob("test_*.py")))
FILES = [path for suite in SUITES for path in sorted(suite.glob("test_*.py"))]
ROW = re.compile(r"^\| ([A-Z])-(\d+) \| (.+?) \| (.+?) \|$")


def rows() -> list[tuple[str, int, str, str]]:
    found = [ROW.match(line) for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return [(row[1], int(row[2]), row[3], row[4]) for row in found if row]


@pytest.mark.parametrize("document", ["A", "B"])
def test_ids_of_a_document_are_unique_and_without_a_gap(document: str) -> None:
    # A line that was found later has the next free number, wherever it stands: ids never change.
    numbers = sorted(number for letter, number, _, _ in rows() if letter == document)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 40


def test_every_line_says_what_is_so_today() -> None:
    assert [
        f"{letter}-{number}" for letter, number, line, today in rows() if not line.strip() or not today.strip()
    ] == []


def test_rows_are_read_by_the_product_as_they_are_here() -> None:
    assert list(claims.document_lines(PAGE)) == [f"{letter}-{number:02}" for letter, number, _, _ in rows()]


def test_every_line_has_a_claim_or_a_written_reason() -> None:
    assert report.uncovered(CHECKOUT) == []


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.name)
def test_every_claim_names_lines_that_exist(suite: Path) -> None:
    known = set(claims.document_lines(PAGE))
    assert {
        claim.id: sorted(set(claim.lines) - known) for claim in claims.scan(suite) if set(claim.lines) - known
    } == {}


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.name)
def test_every_claim_has_a_mutant(suite: Path) -> None:
    declared = declared_mutants(suite)
    assert mutants.problems(declared, {claim.id for claim in claims.scan(suite)}) == []
    assert {claim.id for claim in claims.scan(suite)} - {one.claim for one in declared} == set()


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.name)
def test_no_mutant_expects_words_that_any_failure_has(suite: Path) -> None:
    for one in declared_mutants(suite):
        assert len(one.expect.replace("*", "").strip()) > 15, one.where


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_claims_are_short_and_have_neither_polling_nor_try(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    nodes = list(ast.walk(ast.parse(text)))
    assert not [node.lineno for node in nodes if isinstance(node, ast.While | ast.Try)]
    assert not re.search(r"\bsleep\(|subprocess", text)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_file_of_claims_has_its_file_of_mutants(path: Path) -> None:
    suite = path.parent
    ids = {claim.id for claim in claims.scan(suite) if claim.path == path}
    mirror = suite.parent / "mutants" / suite.name / path.name.removeprefix("test_")
    assert {Path(one.where.rpartition(":")[0]) for one in declared_mutants(suite) if one.claim in ids} == {mirror}


def declared_mutants(suite: Path) -> list[mutants.Mutant]:
    return [one for folder in mutants.folders_for(suite) for one in mutants.load(folder)]
