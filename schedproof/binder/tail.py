"""A file in a node that grows: what has been added since the last look, whole lines only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schedproof.cluster.node import run_in_node
from schedproof.errors import ClusterError

PIECE = 16 << 20
"""Bytes read at most at a time."""

# One program for one look. It opens the file once, so that a rotation between two of its lines does no harm, and prints
# inode, size and "old" or "new", then what lies between the offset and that size. When the file is another one than
# last time it has been rotated: what is left of the old one, found by its inode, comes first.
LOOK = r"""
file=$1 inode=$2 offset=$3 most=$4
look() { # DESCRIPTOR NAME: exits when there was something to print or nothing older to print
  size=$(stat -L -c %s "/dev/fd/$1")
  echo "$(stat -L -c %i "/dev/fd/$1") $size $2"
  tail -c "+$((offset + 1))" <&"$1" | head -c "$most"
  exit 0
}
exec 3<"$file" || exit 66
now=$(stat -L -c %i /dev/fd/3)
if [ "$inode" != 0 ] && [ "$inode" != "$now" ]; then
  old=$(find "$(dirname "$file")" -maxdepth 1 -inum "$inode")
  if [ -n "$old" ] && exec 4<"$old"; then
    [ "$offset" -ge "$(stat -L -c %s /dev/fd/4)" ] || look 4 old
  else
    echo lost >&2
  fi
  offset=0
fi
look 3 new
"""


class Tail:
    """Follows one file of one node.

    Args:
        node: Name of the node.
        path: Absolute path inside it.

    Attributes:
        lost: How often lines may have been missed: the file was cut, or rotated twice between two looks.
    """

    def __init__(self, node: str, path: str) -> None:
        self._node, self._path = node, path
        self._inode, self._offset = 0, 0
        self.lost = 0

    def skip(self) -> None:
        """Go to the end of the file as it is now.

        Raises:
            ClusterError: There is no such file, or the node does not answer.
        """
        look = self._look(0, 1 << 60)
        self._inode, self._offset = look.inode, look.size

    def copy(self) -> Tail:
        """Return a second one at the same place; from here each goes its own way."""
        other = Tail(self._node, self._path)
        other._inode, other._offset = self._inode, self._offset
        return other

    def lines(self) -> Iterator[str]:
        """Yield the whole lines that have been added since.

        Raises:
            ClusterError: The file is gone, or the node does not answer.
        """
        while True:
            look = self._look(self._inode, self._offset)
            if look.inode != self._inode and self._inode:
                self._offset = 0
            self._inode = look.inode
            if look.size < self._offset:  # cut in place
                self.lost += 1
                self._offset = 0
                continue
            # A line that is not finished is read again next time; a whole line is valid UTF-8, so this counts bytes.
            whole = look.text[: look.text.rfind("\n") + 1]
            self._offset += len(whole.encode())
            yield from whole.split("\n")[:-1]
            if look.old:
                self._offset = self._offset if whole else look.size
            elif not whole or self._offset >= look.size:
                return

    def _look(self, inode: int, offset: int) -> _Look:
        argv = ["sh", "-c", LOOK, "sh", self._path, str(inode), str(offset), str(PIECE)]
        done = run_in_node(self._node, argv, check=False)
        head, _, text = done.stdout.partition("\n")
        words = head.split()
        if done.code != 0 or len(words) != 3:  # noqa: PLR2004 - inode, size, old or new
            raise ClusterError(
                f"{self._path} in node {self._node} can be read",
                seen=done.stderr.strip() or f"exit code {done.code}: {head}",
                cause="the node has stopped, or its API server writes no audit log",
                cure=f"look: docker exec {self._node} ls -l {self._path}",
            )
        self.lost += "lost" in done.stderr.split()
        return _Look(int(words[0]), int(words[1]), words[2] == "old", text)


class _Look(NamedTuple):
    inode: int
    size: int
    old: bool
    text: str
