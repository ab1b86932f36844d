"""Mutants of test_default_scheduler_down.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant


@mutant(
    claim="default-scheduler-down",
    input="scheduler",
    fault="C4: a second scheduler that serves the default's name, too, takes its pods",
    expect="no-annotation stays Pending * it is bound to",
)
def serves_the_default_too(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content["profiles"] = [*content["profiles"], {"schedulerName": "default-scheduler"}]
    return bundle.with_config(objects, content)
