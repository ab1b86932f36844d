"""Every program that schedproof needs, once: where it comes from, in which order, and how it says its version.

``docs/programs.md`` shows the same table; a self-test compares the two (:func:`markdown`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from schedproof.errors import UsageError

Source = Literal["path", "cache", "release", "module"]

GO_FLOOR = "1.26"
"""A Go that builds every version in this table; the ``go`` line of a module has the last word."""


@dataclass(frozen=True)
class Family:
    """Programs that come from one Go module, have one version and are built by one ``go build``.

    Attributes:
        name: Folder below the cache.
        module: Path of the Go module.
        sources: Providers in the order in which they are asked.
        stamps: Go variables set at link time, as ``package.variable=value``; ``{version}`` is ``v1.2.3``, ``{number}``
            ``1.2.3``, ``{major}`` and ``{minor}`` their parts, ``{commit}`` the commit where the module names it.
        pinned: The version where nobody asks for one; empty when it depends on Kubernetes' version.
        cgo: Built with cgo and linked statically; needs a C compiler.
        staged: Its module replaces modules by folders of its own repository that are published as v0.Y.Z.
    """

    name: str
    module: str
    sources: tuple[Source, ...] = ("cache", "module")
    stamps: tuple[str, ...] = ()
    pinned: str = ""
    cgo: bool = False
    staged: bool = False


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        name: Its file name.
        family: What it is built with.
        package: Path of its Go package below the module; empty for the module's root.
        asks: Arguments to which it answers with its version.
        answer: Pattern of that answer; group 1 is the version, with or without the ``v``.
        use: What schedproof needs it for.
        from_path: Whether one found on PATH will do (never for what goes into an image).
    """

    name: str
    family: Family
    package: str
    asks: tuple[str, ...]
    answer: str
    use: str
    from_path: bool = False

    @property
    def sources(self) -> tuple[Source, ...]:
        """Providers in order."""
        return ("path", *self.family.sources) if self.from_path else self.family.sources

    @property
    def import_path(self) -> str:
        """Path of its Go package."""
        return f"{self.family.module}/{self.package}" if self.package else self.family.module


def _kubernetes_stamps() -> tuple[str, ...]:
    # component-base answers --version, client-go makes the user agent, and with it what the audit log says.
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    values = (
        "gitVersion={version}",
        "gitMajor={major}",
        "gitMinor={minor}",
        "gitCommit={commit}",
        "gitTreeState=archive",  # what Kubernetes' own build says of sources without a git checkout
    )
    return tuple(f"{package}.{value}" for package in packages for value in values)


KUBERNETES = Family(
    "kubernetes", "k8s.io/kubernetes", ("cache", "release", "module"), _kubernetes_stamps(), staged=True
)
KIND = Family("kind", "sigs.k8s.io/kind", ("cache", "release", "module"), pinned="v0.33.0")
ETCD = Family("etcd", "go.etcd.io/etcd/server/v3", stamps=("go.etcd.io/etcd/api/v3/version.GitSHA={commit}",))
CONTAINERD = Family(
    "containerd",
    "github.com/containerd/containerd/v2",
    stamps=(
        "github.com/containerd/containerd/v2/version.Version={version}",
        "github.com/containerd/containerd/v2/version.Revision={commit}",
    ),
    pinned="v2.2.9",
)
CRICTL = Family(
    "crictl",
    "sigs.k8s.io/cri-tools",
    stamps=("sigs.k8s.io/cri-tools/pkg/version.Version={version}",),
    pinned="v1.34.0",
)
COREDNS = Family(
    "coredns", "github.com/coredns/coredns", stamps=("github.com/coredns/coredns/coremain.GitCommit={commit}",)
)
FLANNEL = Family(
    "flannel",
    "github.com/flannel-io/flannel",
    stamps=("github.com/flannel-io/flannel/pkg/version.Version={version}",),
    pinned="v0.27.4",
    cgo=True,  # without cgo it does not compile
)

_KUBERNETES_ANSWER = r"Kubernetes (v\S+)"

PROGRAMS: dict[str, Program] = {
    program.name: program
    for program in (
        Program("kind", KIND, "", ("version",), r"kind (v\S+)", "makes the cluster", from_path=True),
        Program(
            "kubectl",
            KUBERNETES,
            "cmd/kubectl",
            ("version", "--client"),
            r"Client Version: (v\S+)",
            "the claims about kubectl's output; also in the node image",
            from_path=True,
        ),
        Program(
            "kube-scheduler",
            KUBERNETES,
            "cmd/kube-scheduler",
            ("--version",),
            _KUBERNETES_ANSWER,
            "the scheduler under test, and the default one",
        ),
        *(
            Program(name, KUBERNETES, f"cmd/{name}", ("--version",), _KUBERNETES_ANSWER, "node image")
            for name in ("kube-apiserver", "kube-controller-manager", "kubelet", "kube-proxy")
        ),
        Program(
            "kubeadm",
            KUBERNETES,
            "cmd/kubeadm",
            ("version", "-o", "short"),
            r"^(v\S+)",
            "node image; says which etcd, CoreDNS and pause belong to it",
        ),
        Program("etcd", ETCD, "", ("--version",), r"etcd Version: (\S+)", "node image"),
        Program("containerd", CONTAINERD, "cmd/containerd", ("--version",), r"\s(v\d\S*)", "node image"),
        Program(
            "containerd-shim-runc-v2",
            CONTAINERD,
            "cmd/containerd-shim-runc-v2",
            ("-v",),
            r"Version:\s+(v\S+)",
            "node image",
        ),
        Program("ctr", CONTAINERD, "cmd/ctr", ("--version",), r"\s(v\d\S*)", "node image"),
        Program("crictl", CRICTL, "cmd/crictl", ("--version",), r"version (v\S+)", "node image"),
        Program("coredns", COREDNS, "", ("-version",), r"CoreDNS-(\S+)", "node image"),
        Program("flannel", FLANNEL, "", ("--version",), r"(v\d\S*)", "node image: the pod network"),
    )
}
"""Every program by its name."""

_VERSION = re.compile(r"v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")


def lookup(name: str) -> Program:
    """Return the program of this name.

    Raises:
        UsageError: The table has none.
    """
    if name not in PROGRAMS:
        raise UsageError(
            f"{name!r} is a program that schedproof knows", cure=f"one of {', '.join(PROGRAMS)} (docs/programs.md)"
        )
    return PROGRAMS[name]


def checked_version(program: Program, version: str) -> str:
    """Return the version, or the pinned one when it is empty.

    Raises:
        UsageError: It is none, or it is empty for a program whose version depends on Kubernetes'.
    """
    chosen = version or program.family.pinned
    if not _VERSION.fullmatch(chosen):
        raise UsageError(
            f"a version of {program.name} such as v1.2.3",
            seen=repr(version),
            cure="write it with the v and three numbers",
        )
    return chosen


def numbers(version: str) -> tuple[int, int, int]:
    """Return ``(1, 37, 2)`` for ``v1.37.2``; what follows a hyphen does not count."""
    major, minor, patch = version.removeprefix("v").split("-")[0].split("+")[0].split(".")[:3]
    return int(major), int(minor), int(patch)


def names(programs: Sequence[Program]) -> str:
    """Return their names for a message."""
    return ", ".join(program.name for program in programs)


def markdown() -> str:
    """Return the table as docs/programs.md shows it."""
    rows = ["| program | used for | version | providers, in order | Go package |", "|---|---|---|---|---|"]
    for program in PROGRAMS.values():
        family = program.family
        version = "Kubernetes'" if family is KUBERNETES else family.pinned or "named by kubeadm"
        cells = (program.name, program.use, version, " → ".join(program.sources), f"`{program.import_path}`")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"
