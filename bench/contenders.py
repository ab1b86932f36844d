"""The same claims as three contenders have them, run as their users run them: a pytest of their own in a process."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import yaml

from bench import inputs
from bench.environment import Environment, apart
from bench.inputs import Images
from schedproof import programs, results
from schedproof.cluster.config import FILES
from schedproof.cluster.signals import shielded
from schedproof.command import pasteable, run
from schedproof.data import CHECKOUT, manifests
from schedproof.errors import HarnessError, ImageError
from schedproof.host.docker import docker
from schedproof.images.node import ensure_node_image
from schedproof.images.scheduler import ensure_scheduler_image
from schedproof.progress import progress
from schedproof.settings import Settings

RIVALS = ("pytest-kind", "pytest-kubernetes")
LONGEST = 1800.0
"""Seconds after which a contender's run is ended."""

PREFIX = "schedproof-bench-"
"""Every cluster that a rival makes is named so, and none of that name is left when we end."""

PATIENCE = 60
"""Seconds that a rival's test waits for what should happen."""


@dataclass(frozen=True)
class Ingredients:
    """What all contenders share; it is there before anything is measured.

    Attributes:
        kind: The kind program.
        kubectl: The kubectl program.
        node_image: Image of the nodes.
        kubernetes: Its version.
        nodes: Nodes of each cluster, 3 or 1.
        images: What the YAML names.
        scheduler_id: Id of the scheduler's image.
    """

    kind: Path
    kubectl: Path
    node_image: str
    kubernetes: str
    nodes: int
    images: Images
    scheduler_id: str


@dataclass(frozen=True)
class Outcome:
    """One run of one contender.

    Attributes:
        seconds: Wall time from its start to its end, cluster and removal included.
        code: Exit code.
        red: Names of the tests that failed, in whatever phase, with the first line of the reason.
        green: Names of the tests that passed.
        output: The end of what it printed, for whoever asks why.
    """

    seconds: float
    code: int
    red: Mapping[str, str] = field(default_factory=dict)
    green: Sequence[str] = ()
    output: str = ""


def prepare(settings: Settings) -> Ingredients:
    """Make or find what all contenders share, so that no contender is measured making it."""
    kind = programs.ensure(["kind"], programs.kind_version(), settings)["kind"]
    node = ensure_node_image(settings)
    kubectl = programs.ensure(["kubectl"], node.kubernetes, settings)["kubectl"]
    scheduler = ensure_scheduler_image(settings, node.kubernetes)
    images = Images(scheduler.tag, scheduler.command, _pause(node.tag))
    return Ingredients(kind, kubectl, node.tag, node.kubernetes, settings.nodes, images, scheduler.id)


def ours(*, mutants: bool = False) -> tuple[Outcome, results.Run]:
    """Run the core claims as ``schedproof e2e`` does, on a new cluster; with ``mutants``, under their mutants too."""
    tests = " or ".join(_function(claim.path, claim.line) for claim in inputs.core_claims())
    return schedproof(["mutants" if mutants else "e2e", "--suite", "documents", "--", "-k", tests])


def schedproof(
    arguments: Sequence[str], more: Mapping[str, str] | None = None, heard: list[tuple[float, str]] | None = None
) -> tuple[Outcome, results.Run]:
    """Run a ``schedproof`` command in a process and return what came of it.

    Args:
        arguments: Command and options.
        more: More environment.
        heard: Gets every line of standard error with the time of its arrival (``time.time()``).
    """
    folder = CHECKOUT / "artifacts" / "bench" / "runs"
    shutil.rmtree(folder, ignore_errors=True)
    # KEEP of the caller would turn a new cluster into a kept one.
    environment = {"SCHEDPROOF_ARTIFACTS": str(folder), "ARGS": "", "KEEP": "0", "PLAN": "0", **(more or {})}

    def hear(line: str) -> None:
        if heard is not None:
            heard.append((time.time(), line))

    argv = [sys.executable, "-m", "schedproof", *arguments]
    done = run(argv, seconds=LONGEST, check=False, cwd=CHECKOUT, env=environment, on_line=hear)
    if not (folder / "results.json").is_file():
        raise HarnessError(f"`{pasteable(argv)}` proves claims", seen=_tail(done.stdout + done.stderr))
    found = results.read(folder / "results.json")
    red = {result.claim: result.message for result in found.results if result.outcome in ("false", "harness")}
    green = [result.claim for result in found.results if result.outcome == "proved"]
    return Outcome(done.seconds, done.code, red, green, _tail(done.stdout + done.stderr)), found


class Rivals:
    """Runs the rivals' projects; see :func:`rivals`."""

    def __init__(self, things: Ingredients, environment: Environment, folder: Path, variables: dict[str, str]) -> None:
        self.things, self._environment, self._folder, self._variables = things, environment, folder, variables
        self.yaml = inputs.write(folder / "yaml", things.images)

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment under which programs of other people run."""
        return self._variables

    def run(
        self, rival: str, per: str, *, yaml_folder: Path | None = None, only: str = "", patience: int = PATIENCE,
        kept: tuple[str, Path] | None = None,
    ) -> Outcome:  # fmt: skip
        """Run one rival's project.

        Args:
            rival: Of :data:`RIVALS`.
            per: ``session`` or ``function``: one cluster for all tests, or one for each.
            yaml_folder: Where its YAML is; by default the unbroken one.
            only: Name of the only test to run.
            patience: Seconds that it waits for what should happen.
            kept: Name and kubeconfig of a cluster to run on; it is neither made nor deleted.
        """
        cluster, kubeconfig = kept or (f"{PREFIX}{rival}", self._folder / "rival-kubeconfig")
        project = self._folder / "project"
        shutil.rmtree(project, ignore_errors=True)
        shutil.copytree(CHECKOUT / "bench" / "rivals" / rival, project)
        environment = {
            **self._variables,
            "BENCH_CLUSTER": cluster,
            "BENCH_CLUSTER_PER": per,
            "BENCH_KEPT": "1" if kept else "0",
            "BENCH_KIND": str(self.things.kind),
            "BENCH_KUBECTL": str(self.things.kubectl),
            "BENCH_KUBECONFIG": str(kubeconfig),
            "BENCH_KIND_CONFIG": str(kind_config(self._folder, cluster, self.things)),
            "BENCH_MANIFESTS": str(yaml_folder or self.yaml),
            "BENCH_PATIENCE": str(patience),
            "BENCH_SCHEDULER_IMAGE": self.things.images.scheduler,
        }
        argv: list[str | Path] = [self._environment.python, "-m", "pytest", "-q", "--junit-xml=junit.xml"]
        argv += ["-k", only] if only else []
        argv += ["--k8s-kubeconfig-override", str(kubeconfig)] if kept and rival == "pytest-kubernetes" else []
        done = run(argv, seconds=LONGEST, check=False, cwd=project, env=environment)
        red, green = _read(project / "junit.xml")
        return Outcome(done.seconds, done.code, red, green, _tail(done.stdout + done.stderr))


@contextmanager
def rivals(things: Ingredients, environment: Environment) -> Iterator[Rivals]:
    """Yield what runs rivals; no cluster named ``schedproof-bench-...`` is left afterwards, whatever happened."""
    with apart(things.kind, things.kubectl) as (folder, variables):
        remove_clusters(things.kind, variables)
        try:
            yield Rivals(things, environment, folder, variables)
        finally:
            with shielded():
                remove_clusters(things.kind, variables)


def remove_clusters(kind: Path, variables: Mapping[str, str]) -> None:
    """Delete every cluster whose name says that a benchmark made it."""
    for name in run([kind, "get", "clusters"], seconds=60, env=variables).stdout.split():
        if name.startswith(PREFIX):
            with progress.step(f"removing the cluster {name}"):
                run([kind, "delete", "cluster", "--name", name], seconds=120, env=variables)


def kind_config(folder: Path, cluster: str, things: Ingredients) -> Path:
    """Write kind's configuration for a rival: our cluster's shape and node image, without the audit log."""
    ours: dict[str, object] = yaml.safe_load(manifests("kind", FILES[things.nodes]).read_text(encoding="utf-8"))
    patches = ours["kubeadmConfigPatches"]
    assert isinstance(patches, list)
    roles = ["control-plane"] + ["worker"] * (things.nodes - 1)
    config = {
        "apiVersion": ours["apiVersion"],
        "kind": ours["kind"],
        "name": cluster,
        "nodes": [{"role": role, "image": things.node_image} for role in roles],
        "kubeadmConfigPatches": [patch for patch in patches if "KubeletConfiguration" in patch],
    }
    path = folder / f"{cluster}.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path


def _pause(node_image: str) -> str:
    """Return the pause image that a node has: the one its containerd makes sandboxes of."""
    argv = ["run", "--rm", "--network=none", "--entrypoint", "grep", node_image]
    found = docker(*argv, "-ohE", r"[^\"' ]+/pause:[0-9.]+", "/etc/containerd/config.toml", check=False).stdout.split()
    if not found:
        raise ImageError(f"{node_image} names a pause image", seen="none in /etc/containerd/config.toml")
    return found[0]


def _function(path: Path, line: int) -> str:
    return path.read_text(encoding="utf-8").splitlines()[line - 1].removeprefix("def ").partition("(")[0]


def _read(junit: Path) -> tuple[dict[str, str], list[str]]:
    red: dict[str, str] = {}
    green: list[str] = []
    if not junit.is_file():
        return red, green
    for case in ET.parse(junit).iter("testcase"):  # noqa: S314 - written by the pytest that we have just run
        name = str(case.get("name"))
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if bad is not None:
            red[name] = str(bad.get("message")).partition("\n")[0][:200]
        elif name not in red:
            green.append(name)
    return red, green


def _tail(text: str) -> str:
    return "\n".join(text.splitlines()[-25:])
