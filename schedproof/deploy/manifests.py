"""Read manifests: what kubectl would apply, as plain objects, with file and line in every complaint.

Substitution is done on the objects (:func:`renamed`), never on the text.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from schedproof.deploy.renaming import renamed
from schedproof.errors import UsageError

if TYPE_CHECKING:
    from schedproof.api import Object

__all__ = ["load", "loads", "renamed"]

SUFFIXES = (".yaml", ".yml", ".json")
"""Files that are read when a folder is given, as kubectl does."""


def load(path: Path, *, expect: Sequence[str] = ()) -> list[Object]:
    """Return the objects of a file, or of a folder's files in order of their names.

    Args:
        path: A YAML or JSON file with one or more documents, or a folder of such files (not its sub-folders).
        expect: Kinds of which there must be at least one object each, e.g. ``["Deployment"]``.

    Raises:
        UsageError: There is no such file, it is empty or no YAML, a key stands twice in it, a document is no Kubernetes
            object, or an expected kind is missing. The message names file, line and cure.
    """
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES) if path.is_dir() else [path]
    objects = [obj for file in files for obj in loads(_text(file), str(file))]
    if not objects:
        raise UsageError(
            f"{path} holds Kubernetes objects",
            seen="it is empty" if files else f"the folder has no file that ends in {', '.join(SUFFIXES)}",
            cure="name the file or folder that `kubectl apply -f` would be given",
        )
    kinds = [str(obj["kind"]) for obj in objects]
    for kind in expect:
        if kind not in kinds:
            raise UsageError(
                f"{path} holds a {kind}", seen=f"it holds {', '.join(sorted(set(kinds)))}", cure=f"add the {kind} to it"
            )
    return objects


def loads(text: str, source: str) -> list[Object]:
    """Return the objects of a text; ``source`` is its name in complaints (see :func:`load` for the errors)."""
    objects: list[Object] = []
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            document = loader.construct_document(node) if node is not None else None
            if node is not None and document is not None:
                objects.extend(_objects(document, f"{source}, line {node.start_mark.line + 1}"))
    except yaml.MarkedYAMLError as error:
        mark, began = error.problem_mark, error.context_mark
        # What is never closed is noticed behind the last line.
        line = min(mark.line + 1 if mark else 1, text.rstrip().count("\n") + 1)
        why = f"{error.problem} ({error.context} that began in line {began.line + 1})" if began else str(error.problem)
        raise _refused(f"{source}, line {line}", why) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise _refused(f"{source}, line {line}", f"a character that YAML does not allow: {error.reason}") from error
    return objects


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} can be read as text", seen=str(error), cure="check the path") from error


def _refused(where: str, why: str) -> UsageError:
    return UsageError(
        f"{where}: valid YAML", seen=why, cure="correct that line; `kubectl apply --dry-run=client -f FILE` says more"
    )


def _objects(document: Any, where: str) -> Iterator[Object]:
    """Yield the objects of one document: itself, or the items of a List."""
    if not isinstance(document, dict):
        raise UsageError(
            f"{where}: a Kubernetes object",
            seen=f"a {type(document).__name__}: {str(document)[:60]}",
            cure="an object starts with apiVersion: and kind:; is the indentation right?",
        )
    try:
        json.dumps(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(
            f"{where}: an object that can be sent as JSON", seen=str(error), cure="take out the tag or alias"
        ) from error
    kind, version = document.get("kind"), document.get("apiVersion")
    if not kind or not version:
        raise UsageError(
            f"{where}: an object with apiVersion and kind",
            seen=f"apiVersion: {version or 'missing'}, kind: {kind or 'missing'}",
            cure="add what is missing; every document between two --- lines is an object of its own",
        )
    if str(version).startswith("kubescheduler.config.k8s.io/"):
        raise UsageError(
            f"{where}: an object that the API server knows",
            seen=f"a bare {kind}: kube-scheduler reads it from a file, the API server has no such kind",
            cure="put it under data: of a ConfigMap that the Pod mounts, as manifests/kubernetes/second-scheduler does",
        )
    if kind == "List":
        for item in document.get("items") or []:
            yield from _objects(item, f"{where} (an item of its List)")
        return
    if not isinstance(document.get("metadata"), dict) or not document["metadata"].get("name"):
        raise UsageError(f"{where}: a {kind} with metadata.name", seen="it has none", cure="give it a name")
    yield document


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: a key once, keys are strings, no dates."""

    # A date would become an object that is no JSON. The table is the parent class's too: a copy without that entry.
    yaml_implicit_resolvers = {  # noqa: RUF012 - declared by the parent class
        first: [(tag, pattern) for tag, pattern in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Construct a mapping, refusing a key that stands twice or is no string."""
        seen: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _STRING_LIKE:
                raise yaml.constructor.ConstructorError(
                    None, None, "a key that is no string: put it in quotes", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None,
                    None,
                    f"the key {key.value!r} stands here for the second time (first in line {seen[key.value]}): "
                    "one of the two would be lost",
                    key.start_mark,
                )
            seen[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep=deep)


_STRING_LIKE = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge", "tag:yaml.org,2002:value")
