"""What belongs to a Kubernetes version: the versions of etcd, CoreDNS and pause that its kubeadm names."""

from __future__ import annotations

import re

from schedproof.command import run
from schedproof.errors import ProgramError
from schedproof.programs.search import ensure
from schedproof.programs.table import KUBERNETES, PROGRAMS
from schedproof.settings import Settings


def images(kubernetes: str, settings: Settings) -> list[str]:
    """Return the names of the control-plane images as that version's kubeadm lists them, tags included.

    Raises:
        ProgramError: There is no such kubeadm, or it does not list them.
    """
    kubeadm = ensure(["kubeadm"], kubernetes, settings, exact=True)["kubeadm"]
    done = run([kubeadm, "config", "images", "list", "--kubernetes-version", kubernetes], seconds=60)
    return [line.strip() for line in done.stdout.splitlines() if ":" in line]


def companions(kubernetes: str, settings: Settings) -> dict[str, str]:
    """Return the versions of ``etcd``, ``coredns`` and ``pause`` that belong to a Kubernetes version.

    etcd's and CoreDNS' are written as :func:`ensure` takes them (image etcd:3.7.0-0 is program v3.7.0); pause's is the
    image's tag.

    Raises:
        ProgramError: kubeadm could not be had, or names no such image.
    """
    tags = {
        name.rpartition(":")[0].rpartition("/")[2]: name.rpartition(":")[2] for name in images(kubernetes, settings)
    }
    missing = [name for name in ("etcd", "coredns", "pause") if name not in tags]
    if missing:
        raise ProgramError(
            f"kubeadm {kubernetes} names an image of {', '.join(missing)}", seen=", ".join(tags.values()) or "no images"
        )
    return {
        # The image's tag may carry a revision of the image's own after the program's version.
        **{name: f"v{re.sub(r'-[0-9]+$', '', tags[name]).removeprefix('v')}" for name in ("etcd", "coredns")},
        "pause": tags["pause"],
    }


def versions(kubernetes: str, settings: Settings) -> dict[str, str]:
    """Return the version of every program of the table that goes with a Kubernetes version.

    Raises:
        ProgramError: As :func:`companions`.
    """
    named = companions(kubernetes, settings)
    return {
        name: kubernetes if program.family is KUBERNETES else program.family.pinned or named[program.family.name]
        for name, program in PROGRAMS.items()
    }
