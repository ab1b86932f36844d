"""Every knob, once: environment variable (and make variable), option, default, meaning.

The command line's options, pytest's options and the README's table are made from :data:`KNOBS`.
Precedence, highest first: option on the command line, environment variable (which ``make e2e NAME=value`` sets),
default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from schedproof.errors import UsageError

DEFAULT_KUBERNETES = "v1.37.2"
"""Kubernetes of the cluster where a node image has to be built; where one can be pulled, kind's pinned one decides."""


@dataclass(frozen=True)
class Knob:
    """One setting a user can turn.

    Attributes:
        field: Its name in :class:`Settings`.
        env: Environment and make variable.
        default: Value when nobody says anything, as text; empty means unset.
        meaning: One line for help and README.
        flag: Whether the option takes no value (the variable takes 1 or 0).
        choices: Values allowed; empty means any.
    """

    field: str
    env: str
    default: str
    meaning: str
    flag: bool = False
    choices: tuple[str, ...] = ()

    @property
    def option(self) -> str:
        """The option's name, the same for ``schedproof`` and ``pytest``."""
        return "--" + self.field.replace("_", "-")


KNOBS: tuple[Knob, ...] = (
    Knob("suite", "SUITE", "documents", "suite of claims: a folder below e2e/, or all"),
    Knob(
        "scheduler_version",
        "SCHEDULER_VERSION",
        "",
        "scheduler under test: this kube-scheduler (default: the cluster's version)",
    ),
    Knob("scheduler_image", "SCHEDULER_IMAGE", "", "scheduler under test: a ready image, in the engine or pullable"),
    Knob(
        "scheduler_binary",
        "SCHEDULER_BINARY",
        "",
        "scheduler under test: a kube-scheduler binary for Linux on this machine",
    ),
    Knob(
        "scheduler_dockerfile",
        "SCHEDULER_DOCKERFILE",
        "",
        "scheduler under test: a Dockerfile, built in its own folder",
    ),
    Knob(
        "kubernetes_version",
        "KUBERNETES_VERSION",
        "",
        "Kubernetes of the cluster (default: kind's pinned node image where it can be pulled, "
        f"else {DEFAULT_KUBERNETES})",
    ),
    Knob("node_image", "NODE_IMAGE", "", "kind node image, in the engine or pullable"),
    Knob("nodes", "NODES", "3", "nodes of the cluster: 3 (one control plane, two workers) or 1", choices=("1", "3")),
    Knob(
        "existing_kubeconfig",
        "EXISTING_KUBECONFIG",
        "",
        "claims run against the cluster of this kubeconfig, which is only read; no cluster is made",
    ),
    Knob("keep", "KEEP", "0", "keep the cluster for the next run", flag=True),
    Knob("cluster", "CLUSTER", "", "name of the cluster, to keep several side by side (default: one is made up)"),
    Knob("workers", "WORKERS", "auto", "claims side by side: a number, or auto"),
    Knob(
        "bootstrap",
        "BOOTSTRAP",
        "ask",
        "install a container engine when there is none: ask (on a terminal; elsewhere yes), 1, 0",
        choices=("ask", "1", "0"),
    ),
    Knob("providers", "PROVIDERS", "", "force where things come from, e.g. kind=release,node-image=build"),
    Knob(
        "allow_skip", "ALLOW_SKIP", "", "claims (ids, comma-separated) that may be skipped without turning the run red"
    ),
    Knob("allow_skew", "ALLOW_SKEW", "0", "allow a scheduler outside the version skew rule", flag=True),
    Knob("plan", "PLAN", "0", "say what would be made, touched and cost, and do nothing", flag=True),
)


@dataclass(frozen=True)
class Settings:
    """The knobs' values of one run, checked."""

    suite: str
    scheduler_version: str
    scheduler_image: str
    scheduler_binary: str
    scheduler_dockerfile: str
    kubernetes_version: str
    node_image: str
    nodes: int
    existing_kubeconfig: str
    keep: bool
    cluster: str
    workers: str
    bootstrap: str
    providers: Mapping[str, str]
    allow_skip: frozenset[str]
    allow_skew: bool
    plan: bool


def settings(options: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of a run.

    Args:
        options: Values given on the command line by field name; None, False and missing mean "not given".
        environ: The environment, by default the process's.

    Raises:
        UsageError: A value is not allowed; the message names the knob, where it was given and what is allowed.
    """
    given = options or {}
    env = os.environ if environ is None else environ
    values = {knob.field: _value(knob, given.get(knob.field), env) for knob in KNOBS}
    _at_most_one_scheduler(values)
    return Settings(**values)


def _value(knob: Knob, option: Any, environ: Mapping[str, str]) -> Any:
    if option not in (None, False, ""):
        text, source = ("1" if option is True else str(option)), knob.option
    else:
        text, source = environ.get(knob.env, "").strip() or knob.default, knob.env
    if knob.choices and text not in knob.choices:
        raise _refused(source, text, f"one of {', '.join(knob.choices)}")
    try:
        return _CONVERT.get(knob.field, _flag if knob.flag else str)(text)
    except ValueError as error:
        raise _refused(source, text, str(error)) from error


def _flag(text: str) -> bool:
    if text.lower() in ("1", "yes", "true"):
        return True
    if text.lower() in ("0", "no", "false", ""):
        return False
    raise ValueError("1 or 0")


def _version(text: str) -> str:
    if text and not re.fullmatch(r"v\d+\.\d+\.\d+(-.*)?", text):
        raise ValueError(f"a Kubernetes version such as {DEFAULT_KUBERNETES}")
    return text


def _file(text: str) -> str:
    if text and not Path(text).expanduser().is_file():
        raise ValueError("the path of a file that exists")
    return str(Path(text).expanduser().absolute()) if text else ""


def _pairs(text: str) -> dict[str, str]:
    pairs = [pair.strip().partition("=") for pair in text.split(",") if pair.strip()]
    if not all(name and value for name, _, value in pairs):
        raise ValueError("pairs such as kind=release,node-image=build")
    return {name: value for name, _, value in pairs}


def _workers(text: str) -> str:
    if text != "auto" and not (text.isdigit() and int(text) > 0):
        raise ValueError("a number above 0, or auto")
    return text


_CONVERT: dict[str, Callable[[str], Any]] = {
    "scheduler_version": _version,
    "kubernetes_version": _version,
    "scheduler_binary": _file,
    "scheduler_dockerfile": _file,
    "existing_kubeconfig": _file,
    "nodes": int,
    "workers": _workers,
    "providers": _pairs,
    "allow_skip": lambda text: frozenset(part.strip() for part in text.split(",") if part.strip()),
}


def _at_most_one_scheduler(values: Mapping[str, Any]) -> None:
    kinds = [knob for knob in KNOBS if knob.field.startswith("scheduler_") and values[knob.field]]
    if len(kinds) > 1:
        raise UsageError(
            "at most one scheduler under test is named",
            seen=" and ".join(f"{knob.env}={values[knob.field]}" for knob in kinds),
            cure="keep one of them",
        )


def _refused(source: str, text: str, allowed: str) -> UsageError:
    return UsageError(
        f"{source} is {allowed}", seen=f"{source}={text}", cure=f"set {source} to {allowed}, or leave it out"
    )


assert {knob.field for knob in KNOBS} == {field.name for field in fields(Settings)}  # noqa: S101 - the table is the class


def worker_count(chosen: Settings) -> int:
    """Return how many claims run side by side: two a core, since a claim mostly waits; between 2 and 8."""
    if chosen.workers != "auto":
        return int(chosen.workers)
    return min(8, max(2, 2 * (os.cpu_count() or 1)))
