"""Files that a scheduler outside of the cluster's objects needs on its node: written whole, found and removed again."""

from __future__ import annotations

from collections.abc import Sequence

from schedproof.cluster.node import image_id, run_in_node
from schedproof.errors import ClusterError

COPY_SECONDS = 60.0
"""Deadline of copying a program of some 80 MB inside a node."""

_COPY = r"""
set -e
image=$1 program=$2 path=$3
there=$(mktemp -d)
trap 'ctr --namespace k8s.io images unmount --rm "$there" >/dev/null 2>&1; rmdir "$there"' EXIT
ctr --namespace k8s.io images mount "$image" "$there" >/dev/null
mkdir -p "$(dirname "$path")"
cp "$there$program" "$path.part"
chmod 0755 "$path.part"
mv "$path.part" "$path"
"""

# Beside the file and then renamed: whoever watches the folder (the kubelet, systemd) never sees half of it. The kubelet
# passes over names that begin with a dot.
_WRITE = r"""
set -e
path=$1 mode=$2
mkdir -p "$(dirname "$path")"
part="$(dirname "$path")/.$(basename "$path").part"
cat > "$part"
chmod "$mode" "$part"
mv "$part" "$path"
"""


PROGRAMS = "/usr/local/lib/schedproof"
"""Where programs of our services are in a node, one folder each."""

NOTES = "/var/lib/schedproof"
"""In a node: one file for each scheduler outside of the cluster's objects, with the paths that it uses."""

_SWEEP = r"""
set -e
[ -d "$1" ] || exit 0
for note in "$1"/*; do
  [ -f "$note" ] || continue
  grep '\.service$' "$note" | while read -r unit; do
    systemctl disable --now "$(basename "$unit")" >/dev/null 2>&1 || true
  done
  while read -r path; do rm -rf -- "$path"; done < "$note"
  systemctl daemon-reload
  rm -f -- "$note"
  basename "$note"
done
"""


def write(node: str, path: str, text: str, *, mode: str = "0644") -> None:
    """Write a file in a node, whole or not at all; its folder is made if absent.

    Raises:
        CommandFailed: The node does not answer, or its disk is full.
    """
    run_in_node(node, ["sh", "-c", _WRITE, "sh", path, mode], stdin=text)


def remove(node: str, paths: Sequence[str]) -> None:
    """Remove files and folders of a node; those that are not there do not matter.

    Raises:
        CommandFailed: The node does not answer.
    """
    run_in_node(node, ["rm", "-rf", "--", *paths])


def present(node: str, paths: Sequence[str]) -> list[str]:
    """Return those of the paths that a node has.

    Raises:
        CommandFailed: The node does not answer.
    """
    script = 'for path in "$@"; do [ ! -e "$path" ] || echo "$path"; done'
    return run_in_node(node, ["sh", "-c", script, "sh", *paths]).stdout.splitlines()


def announce(node: str, name: str, paths: Sequence[str]) -> None:
    """Note in the node what is about to be put there, so that the next run finds it when this one is killed.

    Raises:
        CommandFailed: The node does not answer.
    """
    write(node, f"{NOTES}/{name}", "".join(f"{path}\n" for path in paths))


def forget(node: str, name: str) -> None:
    """Remove the note of :func:`announce`; everything that it names is gone.

    Raises:
        CommandFailed: The node does not answer.
    """
    remove(node, [f"{NOTES}/{name}"])


def sweep(node: str) -> list[str]:
    """Remove what notes of an interrupted run name, end its services, and return the names of what it was.

    Raises:
        CommandFailed: The node does not answer, or something cannot be removed.
    """
    return run_in_node(node, ["sh", "-c", _SWEEP, "sh", NOTES], seconds=COPY_SECONDS).stdout.split()


def copy_program(image: str, program: str, node: str, path: str) -> None:
    """Copy a program out of an image that the node has to a place in the node, and make it executable.

    Raises:
        ClusterError: The node does not have the image.
        CommandFailed: The image has no such program.
    """
    known = image_id(node, image)
    if not known:
        raise ClusterError(f"node {node} has the image {image}", seen="it does not", cure="load it first")
    run_in_node(node, ["sh", "-c", _COPY, "sh", known, program, path], seconds=COPY_SECONDS)
