"""What the documents' old lines do, by the version of the scheduler: the one table of it.

Each row says from which minor version on the program answers so. The answers of v1.36 and v1.37 were seen here; where a
row begins is what the release notes say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schedproof.deploy.causes import REPLACED_FLAGS
from schedproof.errors import UsageError
from schedproof.legacy.program import FOLDER, NOWHERE, Line

CONFIG, KUBECONFIG = "my-scheduler-config.yaml", "kubeconfig"
SERVED = "kubescheduler.config.k8s.io/v1"
"""The one version of the configuration that programs since v1.25 read, and the only one since v1.29."""


@dataclass(frozen=True)
class Old:
    """An old line and what replaces it.

    Attributes:
        name: For the claim's id.
        line: As it was written.
        answers: First minor version (``1.24``) -> what the program says from there on, when it exits.
        today: What says the same today; None where nothing does.
        field: Path of what it sets in the configuration, e.g. ``profiles 0 schedulerName``; empty where it is in none.
        value: What it sets there.
    """

    name: str
    line: Line
    answers: Mapping[str, str]
    today: Line | None = None
    field: str = ""
    value: Any = None

    def __str__(self) -> str:
        """Return its name, which pytest puts into the claim's id."""
        return self.name

    def answer(self, version: str) -> str:
        """Return what a program of this version says.

        Raises:
            UsageError: The table begins later.
        """
        fitting = [since for since in self.answers if _numbers(since) <= _numbers(version)]
        if not fitting:
            raise UsageError(
                f"the table of old lines knows what kube-scheduler {version} says to {self.line}",
                seen=f"it begins with v{next(iter(self.answers))}",
                cure="see what the program says, and add a row to schedproof/legacy/expectations.py",
            )
        return self.answers[max(fitting, key=_numbers)]


def configured(content: Mapping[str, Any], *, version: str = SERVED) -> Line:
    """Return the line ``--config=FILE`` with a configuration that has a kubeconfig, and what ``content`` adds."""
    whole = {
        "apiVersion": version,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": f"{FOLDER}/{KUBECONFIG}"},
        **content,
    }
    return Line([f"--config={FOLDER}/{CONFIG}"], {CONFIG: whole, KUBECONFIG: NOWHERE})


def flagged(flag: str) -> Line:
    """Return a line of one flag, with a kubeconfig."""
    return Line([f"--kubeconfig={FOLDER}/{KUBECONFIG}", flag], {KUBECONFIG: NOWHERE})


def _flag(flag: str, since: str, today: Line, field: str = "", value: Any = None) -> Old:
    name = flag.removeprefix("--").partition("=")[0]
    assert name in REPLACED_FLAGS, name  # noqa: S101 - a fault of this table
    return Old(name, flagged(flag), {since: f"unknown flag: --{name}"}, today, field, value)


_LOCK = {"leaderElection": {"resourceNamespace": "lock-namespace", "resourceName": "lock-object-my-scheduler"}}
_NO_TAINTS = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "TaintToleration"}]}}}]}

FLAGS = (
    _flag(
        "--scheduler-name=my-scheduler", "1.22", configured({"profiles": [{"schedulerName": "my-scheduler"}]}),
        "profiles 0 schedulerName", "my-scheduler",
    ),
    _flag(
        "--lock-object-namespace=lock-namespace", "1.24", configured(_LOCK),
        "leaderElection resourceNamespace", "lock-namespace",
    ),
    _flag(
        "--lock-object-name=lock-object-my-scheduler", "1.24", configured(_LOCK),
        "leaderElection resourceName", "lock-object-my-scheduler",
    ),
    _flag("--address=127.0.0.1", "1.24", flagged("--bind-address=127.0.0.1")),
    _flag("--port=10251", "1.24", flagged("--secure-port=10259")),
    _flag(
        "--policy-config-file=/etc/kubernetes/policy.json", "1.23", configured(_NO_TAINTS),
        "profiles 0 plugins multiPoint disabled", [{"name": "TaintToleration", "weight": 0}],
    ),
    _flag(
        "--algorithm-provider=DefaultProvider", "1.23", configured({"profiles": [{}]}),
        "profiles 0 schedulerName", "default-scheduler",
    ),
)  # fmt: skip
"""The documents' flags that are gone, and their contemporaries (case C2)."""


def _removed(beta: str, since: str) -> Old:
    version = f"kubescheduler.config.k8s.io/{beta}"
    profiles = {"profiles": [{"schedulerName": "my-scheduler"}]}
    said = f'no kind "KubeSchedulerConfiguration" is registered for version "{version}"'
    return Old(beta, configured(profiles, version=version), {since: said}, configured(profiles))


VERSIONS = (_removed("v1beta1", "1.25"), _removed("v1beta2", "1.28"), _removed("v1beta3", "1.29"))
"""Versions of the configuration that were removed (case C1)."""

WITHOUT_KIND = Old(
    "without-kind",
    Line([f"--config={FOLDER}/{CONFIG}"], {CONFIG: _LOCK}),
    {"1.22": "Object 'Kind' is missing"},
    configured(_LOCK),
)
"""Document B's second my-scheduler-2-config.yaml: leader election, and nothing else."""

UNMOUNTED = Old(
    "unmounted",
    Line([f"--config={FOLDER}/{CONFIG}"]),
    {"1.22": f"open {FOLDER}/{CONFIG}: no such file or directory"},
    configured({}),
)
"""Document B's Pod mounts nothing."""

KUBECONFIG_PATH = Old(
    "kubeconfig-path",
    Line([f"--kubeconfig={FOLDER}/scheduler/conf"]),
    {"1.22": f"stat {FOLDER}/scheduler/conf: no such file or directory"},
    flagged("--leader-elect=true"),
)
"""Document B's path of a kubeconfig, with a slash for a dot."""

BACKSLASH = Old(
    "backslash",
    Line(["\\"]),
    {"1.22": '"kube-scheduler" does not take any arguments, got ["\\\\"]'},
    configured({}),
)
"""What a doubled backslash at a line's end leaves of document B's unit files."""


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.removeprefix("v").split(".")[:2]
    return int(major), int(minor)
