"""Claims are declared strictly, and what is wrong is named with file and line before any cluster is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

LINES = "| id | line | today |\n|---|---|---|\n| A-01 | A cluster can be set up. | True. |\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            '@pytest.mark.claim("one")\ndef test_a(): pass\n@pytest.mark.claim("one")\ndef test_b(): pass\n',
            "test_claims.py:5: the claim 'one' is declared already in test_claims.py:3",
        ),
        (
            '@pytest.mark.claim("one", lines=["A-01", "Z-99"])\ndef test_a(): pass\n',
            "test_claims.py:3: there is no line 'Z-99' in docs/documents.md",
        ),
        (
            '@pytest.mark.claim("one")\ndef test_a(): pass\ndef test_b(): pass\n',
            "test_claims.py:5: test_b has no claim marker",
        ),
        ("@pytest.mark.claim()\ndef test_a(): pass\n", "test_claims.py:3: a claim has one id of small letters"),
        ('@pytest.mark.claim("One id")\ndef test_a(): pass\n', "test_claims.py:3: a claim has one id of small letters"),
        ('@pytest.mark.claim("one", line="A-01")\ndef test_a(): pass\n', "the claim marker knows no line"),
    ],
)
def test_wrong_marker_ends_with_4_and_names_the_line(project: Project, text: str, words: str) -> None:
    project.file("docs/documents.md", LINES)
    project.claims(text)
    ran = project.run()
    assert ran.ret == 4
    assert words in ran.stdout.str()
    assert project.diary == []


def test_wrong_marker_is_named_under_xdist_too(project: Project) -> None:
    project.claims('@pytest.mark.claim("one")\ndef test_a(): pass\ndef test_b(): pass\n')
    ran = project.run_apart("-n", "2")
    assert ran.ret == 4
    ran.stdout.fnmatch_lines(["test_claims.py:5: test_b has no claim marker*"])
    assert project.diary == []


def test_lines_are_not_checked_where_there_are_no_documents(project: Project) -> None:
    project.claims('@pytest.mark.claim("one", lines=["MINE-1"])\ndef test_a(): pass\n')
    assert project.run().ret == 0
    assert project.results["results"][0]["lines"] == ["MINE-1"]


def test_sentence_is_the_docstring_or_the_tests_name(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_pod1_is_bound_by_the_default_scheduler(): pass\n'
        '@pytest.mark.claim("two")\ndef test_b():\n    """Pod2 is bound, too.\n\n    More."""\n'
    )
    project.run()
    assert [one["sentence"] for one in project.results["results"]] == [
        "pod1 is bound by the default scheduler",
        "Pod2 is bound, too.",
    ]


def test_claim_is_selected_by_its_id(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("pods-first")\ndef test_a(): pass\n@pytest.mark.claim("two")\ndef test_b(): pass\n'
    )
    assert project.run("-k", "pods-first").ret == 0
    assert [one["claim"] for one in project.results["results"]] == ["pods-first"]
