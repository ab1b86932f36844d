"""``schedproof doctor``: is this machine fit, and what to do where it is not."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.text import Text

from schedproof.errors import ExitCode
from schedproof.settings import settings

_COLOUR = {"ok": "green", "mended": "cyan", "warning": "yellow", "bad": "red"}


def doctor(arguments: argparse.Namespace) -> int:
    """Print one line a check, with a cure below where one is needed; exit code 3 when something is bad."""
    from schedproof.host.checks import check_host

    console = Console(highlight=False, soft_wrap=True)
    checks = check_host(settings(vars(arguments)))
    for check in checks:
        # Text, not markup: what was seen may hold brackets.
        console.print(Text.assemble((f"{check.state:<8}", _COLOUR[check.state]), f"{check.name:<16} {check.seen}"))
        if check.cure and check.state in ("warning", "bad"):
            console.print(f"{'':<25}-> {check.cure}", markup=False)
    return ExitCode.HARNESS if any(check.state == "bad" for check in checks) else ExitCode.PROVED
