"""``schedproof shell``: a shell with kubectl on the kept cluster."""

from __future__ import annotations

import argparse
import os
import sys

from schedproof.cluster import owner
from schedproof.errors import UsageError


def shell(_arguments: argparse.Namespace) -> int:
    """Become the user's shell, with KUBECONFIG and PATH set for the newest kept cluster."""
    kept = owner.kept()
    if kept is None:
        raise UsageError("there is a kept cluster", seen="none", cure="make one: make e2e KEEP=1")
    program = os.environ.get("SHELL", "/bin/sh")
    print(f"cluster {kept.name}; KUBECONFIG={kept.kubeconfig}; leave with exit", file=sys.stderr)  # noqa: T201
    os.execvpe(  # noqa: S606 - the user asked for a shell
        program,
        [program],
        {**os.environ, "KUBECONFIG": str(kept.kubeconfig), "PATH": f"{kept.kubectl.parent}:{os.environ['PATH']}"},
    )
