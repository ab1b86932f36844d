"""A Deployment that is created by `kubectl create -f my-scheduler.yaml`, as the documents do it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from schedproof.shapes.deployment import Deployment
from schedproof.typed import assert_typed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts


class Created(Deployment):
    """A scheduler whose manifests stand in one file.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: The bundle, under names of its own.
        file: Where the file is written.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], file: Path) -> None:
        super().__init__(api, facts, objects)
        self.file = file
        file.write_text(yaml.safe_dump_all(self.objects, sort_keys=False), encoding="utf-8")

    def _deploy(self) -> None:
        assert_typed(self._facts, "create", "-f", self.file)
