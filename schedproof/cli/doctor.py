"""``schedproof doctor``: is this machine fit, and what to do where it is not."""

from __future__ import annotations

import argparse

from rich.console import Console

from schedproof.errors import ExitCode
from schedproof.settings import settings

_MARK = {"ok": "[green]ok[/]", "mended": "[cyan]mended[/]", "warning": "[yellow]warning[/]", "bad": "[red]bad[/]"}


def doctor(arguments: argparse.Namespace) -> int:
    """Print one line a check, with a cure below where one is needed; exit code 3 when something is bad."""
    from schedproof.host.checks import check_host

    console = Console(highlight=False, soft_wrap=True)
    checks = check_host(settings(vars(arguments)))
    for check in checks:
        console.print(f"{_MARK[check.state]:<20} {check.name:<16} {check.seen}")
        if check.cure and check.state in ("warning", "bad"):
            console.print(f"{'':<27}-> {check.cure}", markup=False)
    return ExitCode.HARNESS if any(check.state == "bad" for check in checks) else ExitCode.PROVED
