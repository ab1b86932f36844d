"""The list of the documents' lines, and the claims and mutants of the suite that proves them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from schedproof import claims, mutants
from schedproof.data import CHECKOUT

PAGE = CHECKOUT / "docs" / "documents.md"
SUITE = CHECKOUT / "e2e" / "documents"
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


def test_every_claim_names_lines_that_exist() -> None:
    known = set(claims.document_lines(PAGE))
    assert {
        claim.id: sorted(set(claim.lines) - known) for claim in claims.scan(SUITE) if set(claim.lines) - known
    } == {}


def test_every_claim_has_a_mutant() -> None:
    declared = declared_mutants()
    assert mutants.problems(declared, {claim.id for claim in claims.scan(SUITE)}) == []
    assert {claim.id for claim in claims.scan(SUITE)} - {one.claim for one in declared} == set()


def test_no_mutant_expects_words_that_any_failure_has() -> None:
    for one in declared_mutants():
        assert len(one.expect.replace("*", "").strip()) > 15, one.where


@pytest.mark.parametrize("path", sorted(SUITE.glob("test_*.py")), ids=lambda path: path.name)
def test_claims_are_short_and_have_neither_polling_nor_try(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 120
    nodes = list(ast.walk(ast.parse(text)))
    assert not [node.lineno for node in nodes if isinstance(node, ast.While | ast.Try)]
    assert not re.search(r"\bsleep\(|subprocess", text)


@pytest.mark.parametrize("path", sorted(SUITE.glob("test_*.py")), ids=lambda path: path.name)
def test_every_file_of_claims_has_its_file_of_mutants(path: Path) -> None:
    ids = {claim.id for claim in claims.scan(SUITE) if claim.path == path}
    mirror = SUITE.parent / "mutants" / SUITE.name / path.name.removeprefix("test_")
    assert {Path(one.where.rpartition(":")[0]) for one in declared_mutants() if one.claim in ids} == {mirror}


def declared_mutants() -> list[mutants.Mutant]:
    return [one for folder in mutants.folders_for(SUITE) for one in mutants.load(folder)]
