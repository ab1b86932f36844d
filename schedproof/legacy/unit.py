"""What systemd makes of a unit file: read by a node's own systemd, and never started."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from schedproof.cluster.node import run_in_node
from schedproof.errors import ClaimFailed, ClusterError
from schedproof.shapes import node_files

_ARGV = re.compile(r"argv\[\]=(.*?) ; ignore_errors=")
_FOLDER = "/run/systemd/system"
"""systemd looks here for a unit that it is asked about, without being told to read its files again."""


@dataclass(frozen=True)
class Unit:
    """A unit as systemd reads it.

    Attributes:
        argv: Program and arguments that it would start.
        complaints: What systemd says of the file's lines.
    """

    argv: list[str]
    complaints: str


def read(node: str, text: str) -> Unit:
    """Return what the systemd of a node makes of a unit file's text.

    Raises:
        ClusterError: It does not read it at all.
        CommandFailed: The node does not answer.
    """
    name = f"schedproof-line-{secrets.token_hex(4)}.service"
    path = f"{_FOLDER}/{name}"
    node_files.announce(node, name, [path])
    try:
        node_files.write(node, path, text)
        shown = run_in_node(node, ["systemctl", "show", "--property=ExecStart", name]).stdout
        checked = run_in_node(node, ["systemd-analyze", "verify", path], check=False)
    finally:
        node_files.remove(node, [path])
        node_files.forget(node, name)
    found = _ARGV.search(shown)
    if found is None:
        raise ClusterError(f"systemd of {node} reads the unit file", seen=shown.strip() or "no ExecStart", cure=text)
    return Unit(found[1].split(), checked.stderr.strip())


def assert_line_ignored(unit: Unit, option: str) -> None:
    """Assert that systemd ignores the line with an option, so that the program is not given it.

    Raises:
        ClaimFailed: The program is given it, or systemd does not say that it ignores a line.
    """
    expected = f"systemd ignores the line with {option}, and says so"
    if any(word.startswith(option) for word in unit.argv):
        raise ClaimFailed(expected, seen=f"it would start: {' '.join(unit.argv)}", cause="the lines are joined")
    if f"'{option}'" not in unit.complaints or "ignoring" not in unit.complaints:
        raise ClaimFailed(expected, seen=unit.complaints or "it says nothing", cause="the unit file has no such line")
