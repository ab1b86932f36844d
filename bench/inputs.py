"""The documents' YAML as files that anybody can ``kubectl apply``, whole or broken by one of our mutants."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from schedproof import claims, mutants
from schedproof.api import Object
from schedproof.claims import Claim
from schedproof.data import manifests
from schedproof.deploy.manifests import load, renamed
from schedproof.errors import HarnessError
from schedproof.mutants import Mutant

SUITE = Path("e2e/documents")

CORE = (
    "pod1-bound-by-default-scheduler",
    "pod2-bound-by-default-scheduler",
    "pod3-bound-by-my-scheduler",
    "pods-first",
    "my-scheduler-running-and-synced",
)
"""The claims that every contender can express; the rivals' tests are named after them."""

PODS = ("pod1", "pod2", "pod3")
SCHEDULER = "scheduler"


@dataclass(frozen=True)
class Images:
    """What the YAML names: the same for all contenders.

    Attributes:
        scheduler: Tag of the scheduler's image.
        command: Path of the program in it.
        pause: Image of the pods, which every node has.
    """

    scheduler: str
    command: str
    pause: str


def core_claims() -> list[Claim]:
    """Return the claims of :data:`CORE`.

    Raises:
        HarnessError: One of them is not in the suite any more.
    """
    found = {claim.id: claim for claim in claims.scan(SUITE)}
    if gone := [name for name in CORE if name not in found]:
        raise HarnessError(f"{SUITE} has the claims of bench/inputs.py", seen=f"not there: {', '.join(gone)}")
    return [found[name] for name in CORE]


def core_mutants() -> list[Mutant]:
    """Return all mutants of the core claims, those that disturb the cluster included."""
    return [one for folder in mutants.folders_for(SUITE) for one in mutants.load(folder) if one.claim in CORE]


def expressible(mutant: Mutant) -> bool:
    """Say whether a mutant can be let loose on the rivals: it breaks YAML that they apply, or disturbs the cluster."""
    return mutant.input in (*PODS, SCHEDULER, mutants.WORLD)


def write(folder: Path, images: Images, mutant: Mutant | None = None) -> Path:
    """Write pod1.yaml, pod2.yaml, pod3.yaml and my-scheduler.yaml into a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, objects in _inputs(images).items():
        if mutant is not None and mutant.input == name:
            one = objects if name == SCHEDULER else objects[0]
            instead = mutant.function(one)
            if instead is not None:
                objects = instead if name == SCHEDULER else [instead]  # noqa: PLW2901
        file = "my-scheduler.yaml" if name == SCHEDULER else f"{name}.yaml"
        (folder / file).write_text(yaml.safe_dump_all(objects, sort_keys=False), encoding="utf-8")
    return folder


def _inputs(images: Images) -> dict[str, list[Object]]:
    found = {name: copy.deepcopy(load(manifests("kubernetes", f"{name}.yaml"), expect=["Pod"])) for name in PODS}
    for container in _containers([pod for pods in found.values() for pod in pods]):
        container["image"], container["imagePullPolicy"] = images.pause, "IfNotPresent"
    found[SCHEDULER] = renamed(
        load(manifests("kubernetes", "second-scheduler")),
        name="my-scheduler",
        image=images.scheduler,
        command=images.command,
        pull_policy="IfNotPresent",
    )
    return found


def _containers(pods: Sequence[Object]) -> list[Object]:
    return [container for pod in pods for container in pod["spec"]["containers"]]
