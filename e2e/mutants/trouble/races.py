"""Mutants of test_races.py."""

from __future__ import annotations

from typing import Any

from schedproof.api import Object
from schedproof.deploy import bundle
from schedproof.mutants import mutant


@mutant(
    claim="two-of-one-name",
    input="rival",
    fault="the second copy has the cure: it stands by behind a lease of its own that nobody lets it have",
    expect="both served the name",
)
def rival_stands_by(objects: list[Object]) -> list[Object]:
    content = dict(bundle.configs(objects)[0].content or {})
    content["leaderElection"] = {"leaderElect": True, "resourceName": "nobody-may"}
    return bundle.with_config(objects, content)


@mutant(
    claim="last-place-raced",
    input="ports",
    fault="the two do not want the same place after all: no host port",
    expect="of two pods that want the same place one runs * both run",
)
def no_host_port(ports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"containerPort": port["containerPort"]} for port in ports]


@mutant(
    claim="preset-node",
    input="node",
    fault="a webhook takes the preset node out of the spec: the pod waits for a scheduler that nobody runs",
    expect="pod annotation-second-scheduler is running",
)
def node_taken_out(node: str) -> str:
    return node[:0]
