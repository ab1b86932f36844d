"""``schedproof COMMAND``: what make, CI pipelines and people call. One file a command, one table here."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

from schedproof import __version__
from schedproof.cluster.signals import terminable
from schedproof.errors import ExitCode, HarnessError, SchedproofError, UsageError
from schedproof.settings import KNOBS, Knob

CommandFunction = Callable[[argparse.Namespace], int]


def _commands() -> dict[str, tuple[str, CommandFunction]]:
    from schedproof.cli import claims, clean, doctor, e2e, shell, test

    return {
        "e2e": ("prove the claims of a suite on a kind cluster", e2e.prove),
        "mutants": ("show that each claim fails when its mutant breaks something", e2e.mutants),
        "doctor": ("check this machine, one line a finding, with a cure", doctor.doctor),
        "test": ("lint, types and self-tests; no cluster", test.test),
        "claims": ("write docs/claims.md: document line -> claim -> mutant", claims.claims),
        "shell": ("a shell with kubectl on the kept cluster", shell.shell),
        "clean": ("list and remove what schedproof made on this machine", clean.clean),
    }


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar; the knobs come from :data:`schedproof.settings.KNOBS`."""
    top = argparse.ArgumentParser(
        prog="schedproof",
        description="Prove on a real kind cluster that a Kubernetes scheduler does what the documentation says.",
        epilog="exit codes: " + ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in ExitCode),
    )
    top.add_argument("--version", action="version", version=f"schedproof {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (meaning, function) in _commands().items():
        command = commands.add_parser(name, help=meaning, description=meaning)
        command.set_defaults(function=function)
        if name in ("e2e", "mutants", "doctor"):
            for knob in KNOBS:
                _add(command, knob)
        if name in ("e2e", "mutants", "test"):
            command.add_argument("pytest_args", nargs=argparse.REMAINDER, metavar="-- PYTEST ARGUMENTS")
        if name == "clean":
            command.add_argument("--list", action="store_true", help="only list, remove nothing")
            command.add_argument("--clusters", action="store_true", help="only clusters and kind's network")
        if name == "claims":
            command.add_argument(
                "--check", action="store_true", help="write nothing; fail when the page is out of date"
            )
    return top


def _add(command: argparse.ArgumentParser, knob: Knob) -> None:
    meaning = f"{knob.meaning} [${knob.env}{', default ' + knob.default if knob.default and not knob.flag else ''}]"
    if knob.flag:
        command.add_argument(knob.option, action="store_true", default=None, help=meaning)
    else:
        command.add_argument(knob.option, default=None, help=meaning, choices=knob.choices or None)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; no traceback for anything that we raise on purpose."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as ended:
        # argparse ends with 2 for a wrong option; in our table 2 is an interruption.
        return ExitCode.USAGE if ended.code == 2 else int(ended.code or 0)  # noqa: PLR2004
    function: CommandFunction = arguments.function
    try:
        # SIGTERM ends what runs below us too, as Ctrl-C does; pytest, which `e2e` becomes, has its own way.
        with terminable():
            return int(function(arguments))
    except (SchedproofError, OSError) as error:
        return _told(error)
    except KeyboardInterrupt:
        print("schedproof: interrupted", file=sys.stderr)  # noqa: T201
        return ExitCode.INTERRUPTED


def _told(error: SchedproofError | OSError) -> ExitCode:
    """Print an error with its family, and return its exit code."""
    if isinstance(error, UsageError):
        print(f"schedproof: wrong input\n{error}", file=sys.stderr)  # noqa: T201
        return ExitCode.USAGE
    # OSError: a full disk or a folder that may not be written, where nobody nearer knew better words.
    if isinstance(error, HarnessError | OSError):
        print(f"schedproof: harness error (this says nothing about the scheduler)\n{error}", file=sys.stderr)  # noqa: T201
        return ExitCode.HARNESS
    print(f"schedproof: {error}", file=sys.stderr)  # noqa: T201
    return ExitCode.CLAIM_FAILED


if __name__ == "__main__":
    sys.exit(main())
