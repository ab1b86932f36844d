"""A scheduler that must not be: one that serves the names of another beside it. Mutants deploy it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from schedproof import data
from schedproof.deploy import bundle
from schedproof.deploy.manifests import load, renamed
from schedproof.errors import UsageError
from schedproof.shapes.deployment import Deployment

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts


def rival_of(objects: Sequence[Object]) -> list[Object]:
    """Return a copy of a scheduler's bundle under another name and identity that serves the same names.

    Raises:
        UsageError: The bundle has no workload, or its configuration cannot be read.
    """
    workload, configs = bundle.workload(objects), bundle.configs(objects)
    if workload is None or not configs or configs[0].content is None:
        raise UsageError(
            "the bundle has a workload and a configuration", seen=", ".join(obj["kind"] for obj in objects)
        )
    copies = renamed(objects, name=f"{workload['metadata']['name']}-rival")
    return bundle.with_config(copies, configs[0].content)


@contextmanager
def forgotten_copy(api: Api, facts: Facts, name: str) -> Iterator[Deployment]:
    """Have a running scheduler that serves ``name`` under an identity that nobody knows of; remove it afterwards."""
    own = renamed(
        load(data.manifests("kubernetes", "second-scheduler")),
        name=name,
        image=facts.scheduler_image,
        command=facts.scheduler_command,
    )
    copy = Deployment(api, facts, rival_of(own))
    try:
        yield copy.deploy().wait_until_ready()
    finally:
        copy.uninstall()
