"""How many of our mutants each contender notices: the rivals' tests run on what our mutants have broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench import figures, inputs
from bench.contenders import PREFIX, RIVALS, Ingredients, Rivals, kind_config, ours, rivals
from bench.disturbance import disturbed
from bench.environment import Environment
from schedproof import results
from schedproof.cluster.facts import Facts
from schedproof.cluster.node import nodes
from schedproof.cluster.ready import wait_until_nodes_ready
from schedproof.command import run
from schedproof.errors import HarnessError, SchedproofError
from schedproof.mutants import Mutant
from schedproof.progress import progress

PATIENCE = 15
"""Seconds that a rival waits under a mutant; the twins pass with it, and a survivor does not cost a minute."""

CLEAN_UP_SECONDS = 120.0


def measure(things: Ingredients, environment: Environment, our_results: Path | None) -> dict[str, Any]:
    """Return for each mutant of the core claims who noticed it.

    A rival notices when its test of that claim is red, in whatever phase, while the same test is green on whole YAML.
    That is less than we ask of ourselves: ours must end *false* with the mutant's own sentence.

    Args:
        things: What all contenders share.
        environment: The rivals' virtual environment.
        our_results: results.json of a ``make mutants`` to take our own outcome from; without it ours run now.

    Raises:
        HarnessError: There is no mutant of a core claim, or the cluster cannot be made.
    """
    every = inputs.core_mutants()
    usable = [mutant for mutant in every if inputs.expressible(mutant)]
    if not usable:
        raise HarnessError(
            "the core claims have mutants that the rivals can meet", seen=f"{len(every)} mutants, none of them"
        )
    found: dict[str, Any] = {
        "claims": list(inputs.CORE),
        "not_run": [_name(mutant) for mutant in every if mutant not in usable],
        "mutants": {_name(mutant): {"fault": mutant.fault} for mutant in usable},
    }
    with rivals(things, environment) as others:
        facts = _make_cluster(others)
        for rival in RIVALS:
            for name, (verdict, said) in _one(rival, usable, others, facts).items():
                found["mutants"][name] |= {rival: verdict, f"{rival} said": said}
    try:
        _ours(found, results.read(our_results) if our_results else _run_ours())
    except SchedproofError as error:
        found["ours_failed"] = str(error)  # what the rivals took minutes for is not lost
    return found


def show(found: dict[str, Any]) -> str:
    """Return who notices how many, and the mutants that a rival lets pass."""
    rows = []
    for name in ("schedproof", *RIVALS):
        verdicts = [one.get(name, "not run") for one in found["mutants"].values()]
        # Ours are caught only when the claim ends false with the expected sentence.
        false = [one for one in found["mutants"].values() if one.get(name) == "caught" and _false(one, name)]
        counts = (verdicts.count("caught"), len(false), verdicts.count("survived"), len(verdicts))
        rows.append([name, *map(str, counts)])
    heading = ["mutants of the core claims", "caught", "by an assertion", "survived", "of"]
    lines = [figures.table(heading, rows)]
    for name, one in found["mutants"].items():
        if survivors := [rival for rival in ("schedproof", *RIVALS) if one.get(rival) != "caught"]:
            lines.append(f"  {name} ({one['fault']}): " + ", ".join(f"{rival} {one.get(rival)}" for rival in survivors))
    if found.get("ours_failed"):
        lines.append(f"! our own run failed:\n{found['ours_failed']}")
    if found["not_run"]:
        lines.append(f"  not run: they break an input that only our own claims have: {', '.join(found['not_in_yaml'])}")
    return "\n".join(lines)


def _one(rival: str, mutants: Sequence[Mutant], others: Rivals, facts: Facts) -> dict[str, tuple[str, str]]:
    """Run one rival, each claim's twin and its mutants; return for each mutant the verdict and what the test said."""
    kept = facts.name, facts.kubeconfig
    twins: dict[str, bool] = {}
    found: dict[str, tuple[str, str]] = {}
    for mutant in mutants:
        test = "test_" + mutant.claim.replace("-", "_")
        if mutant.claim not in twins:
            with progress.step(f"{rival}: {mutant.claim}, unbroken"):
                twin = others.run(rival, "session", only=test, patience=PATIENCE, kept=kept)
                twins[mutant.claim] = twin.code == 0
                _clean_up(others, facts.kubeconfig, [others.yaml])
        with progress.step(f"{rival}: {_name(mutant)}"):
            broken = inputs.write(others.yaml.parent / "broken", others.things.images, mutant)
            with disturbed(mutant, facts):
                outcome = others.run(rival, "session", yaml_folder=broken, only=test, patience=PATIENCE, kept=kept)
            _clean_up(others, facts.kubeconfig, [broken, others.yaml])
        if not twins[mutant.claim]:
            verdict = "its twin is red"
        else:
            verdict = {0: "survived", 1: "caught"}.get(outcome.code, f"exit code {outcome.code}")
        found[_name(mutant)] = verdict, next(iter(outcome.red.values()), "")
    return found


def _false(one: Mapping[str, str], name: str) -> bool:
    """Say whether the test failed by what it asserts, and not by a program that ended badly or took too long."""
    return name not in RIVALS or one.get(f"{name} said", "").startswith("AssertionError")


def _name(mutant: Mutant) -> str:
    return f"{mutant.claim}/{mutant.name}"


def _run_ours() -> results.Run:
    with progress.step("schedproof mutants of the core claims"):
        return ours(mutants=True)[1]


def _ours(found: dict[str, Any], run_of_ours: results.Run) -> None:
    for result in run_of_ours.results:
        name = f"{result.claim}/{result.mutant}"
        if result.mutant and name in found["mutants"]:
            found["mutants"][name]["schedproof"] = result.outcome


def _make_cluster(others: Rivals) -> Facts:
    """Make the cluster that both rivals run on; leaving :func:`rivals` removes it."""
    things, name, folder = others.things, f"{PREFIX}mutants", others.yaml.parent
    kubeconfig = folder / "mutants-kubeconfig"
    with progress.step(f"cluster {name}"):
        config = kind_config(folder, name, things)
        argv: list[str | Path] = [things.kind, "create", "cluster", "--name", name, "--config", config]
        run([*argv, "--kubeconfig", kubeconfig], seconds=600, env=others.variables)
        load: list[str | Path] = [things.kind, "load", "docker-image", things.images.scheduler, "--name", name]
        run(load, seconds=300, env=others.variables)
        wait_until_nodes_ready(kubeconfig, things.nodes)
    members = nodes(name)
    return Facts(
        name=name,
        kubeconfig=kubeconfig,
        kind=things.kind,
        kubectl=things.kubectl,
        kubernetes=things.kubernetes,
        node_image=things.node_image,
        control_planes=tuple(node.name for node in members if node.role == "control-plane"),
        workers=tuple(node.name for node in members if node.role == "worker"),
        pause_image=things.images.pause,
        scheduler_image=things.images.scheduler,
        scheduler_image_id=things.scheduler_id,
        scheduler_version=things.kubernetes,
        scheduler_command=things.images.command,
        audit=False,
    )


def _clean_up(others: Rivals, kubeconfig: Path, folders: Sequence[Path]) -> None:
    """Remove everything that a test has applied, and the events, which would tell of pods of earlier tests."""
    kubectl: list[str | Path] = [others.things.kubectl, "--kubeconfig", kubeconfig]
    variables: Mapping[str, str] = others.variables
    files = [option for folder in folders for option in ("--filename", folder / "my-scheduler.yaml")]
    for words in (
        ["delete", "--ignore-not-found", "--force", "--grace-period=0", *files],
        ["delete", "pods", "--all", "--force", "--grace-period=0"],
        ["delete", "events", "--all"],
    ):
        run([*kubectl, *words], seconds=CLEAN_UP_SECONDS, env=variables, check=False)
