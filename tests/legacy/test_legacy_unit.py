"""A unit file, read by a node's systemd."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.errors import ClaimFailed, ClusterError
from schedproof.legacy import unit

NODE = """
if "show" in argv:
    print({shown!r})
if "verify" in argv:
    print("x.service:6: Unknown key '--config' in section [Service], ignoring.", file=sys.stderr)
"""
SHOWN = "ExecStart={ path=/bin/a ; argv[]=/bin/a \\ --b=c ; ignore_errors=no ; pid=0 }"


def test_unit_is_read_and_every_trace_of_it_removed(fake: Any) -> None:
    engine = fake("docker", NODE.format(shown=SHOWN))
    read = unit.read("node", "[Service]")
    assert read.argv == ["/bin/a", "\\", "--b=c"]
    assert "ignoring" in read.complaints
    assert [call[2:4] for call in engine.calls[-2:]] == [["rm", "-rf"], ["rm", "-rf"]]


def test_unit_that_cannot_be_read_is_trouble_of_the_node(fake: Any) -> None:
    fake("docker", NODE.format(shown=""))
    with pytest.raises(ClusterError, match="reads the unit file"):
        unit.read("node", "[Service]")


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (unit.Unit(["a", "--config=b"], "x: Unknown key '--config', ignoring."), "it would start: a --config=b"),
        (unit.Unit(["a"], ""), "it says nothing"),
    ],
)
def test_line_that_is_not_ignored_is_told(read: unit.Unit, said: str) -> None:
    with pytest.raises(ClaimFailed, match="systemd ignores the line") as error:
        unit.assert_line_ignored(read, "--config")
    assert said in str(error.value)
