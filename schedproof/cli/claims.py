"""``schedproof claims``: docs/claims.md, generated, so that it cannot say more than there is."""

from __future__ import annotations

import argparse

from schedproof import folders
from schedproof.data import CHECKOUT
from schedproof.errors import ExitCode
from schedproof.progress import progress
from schedproof.report import claims as report

PAGE = "docs/claims.md"


def claims(arguments: argparse.Namespace) -> int:
    """Write the page; with ``--check`` only compare it. Exit with 1 when it is out of date, or leaves a line out."""
    page, text = CHECKOUT / PAGE, report.render(CHECKOUT)
    same = page.is_file() and page.read_text(encoding="utf-8") == text
    if not arguments.check:
        folders.write_text(page, text)
    elif not same:
        progress.line(f"{PAGE} is out of date: run `make claims` and commit it")
        return ExitCode.CLAIM_FAILED
    wrong = report.uncovered(CHECKOUT)
    for sentence in wrong:
        progress.line(f"! docs/documents.md: {sentence}")
    if wrong:
        return ExitCode.CLAIM_FAILED
    return ExitCode.PROVED
