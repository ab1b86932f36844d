"""Write the tables of the last measurements into docs/bench.md, below its last heading."""

from __future__ import annotations

import json
from pathlib import Path

from schedproof import folders
from schedproof.data import CHECKOUT
from schedproof.errors import UsageError

PAGE = Path("docs/bench.md")
HEADING = "## One run's figures\n"
ORDER = ("latency", "suites", "mutants", "cold", "costs")


def write(page: Path = CHECKOUT / PAGE) -> Path:
    """Replace what stands below the heading by the tables in ``artifacts/bench/`` and return the page.

    Raises:
        UsageError: Nothing has been measured, or the page has no such heading.
    """
    folder = folders.artifacts() / "bench"
    tables = [_section(folder / name) for name in ORDER if (folder / f"{name}.txt").is_file()]
    text = page.read_text(encoding="utf-8")
    if not tables or HEADING not in text:
        seen = f"{page} has no heading {HEADING.strip()!r}" if tables else f"no table in {folder}"
        raise UsageError("figures and a page to put them into", seen=seen, cure="measure first: python -m bench")
    above = text[: text.index(HEADING) + len(HEADING)]
    intro = "From one run on the project's own machine; what counts are the ratios. Load is what it was before.\n"
    return folders.write_text(page, "\n".join([above, intro, *tables]))


def _section(path: Path) -> str:
    taken = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))["taken"]
    return f"`{path.name}`, {taken}:\n\n```\n{path.with_suffix('.txt').read_text(encoding='utf-8').strip()}\n```\n"
