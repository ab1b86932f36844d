"""``schedproof shell``: a shell with kubectl on the kept cluster."""

from __future__ import annotations

import argparse
import os
import sys

from schedproof.errors import UsageError
from schedproof.settings import settings


def shell(_arguments: argparse.Namespace) -> int:
    """Become the user's shell, with KUBECONFIG and PATH set for the kept cluster that was used last."""
    from schedproof import folders, programs
    from schedproof.cluster import owner
    from schedproof.images.node import kubernetes_of

    kept = [record for record in owner.records() if record.keep and record.phase == "ready"]
    if not kept:
        raise UsageError("there is a kept cluster", seen="none", cure="make one: make e2e KEEP=1")
    last = max(kept, key=lambda record: record.folder.stat().st_mtime)
    kubectl = programs.ensure(["kubectl"], kubernetes_of(last.node_image), settings())["kubectl"]
    kubeconfig = last.folder / "kubeconfig"
    print(f"cluster {last.name}; KUBECONFIG={kubeconfig}; leave with exit", file=sys.stderr)  # noqa: T201
    program = os.environ.get("SHELL", "/bin/sh")
    environment = {
        **os.environ,
        "KUBECONFIG": str(kubeconfig),
        "KUBECACHEDIR": str(folders.cache() / "kubectl"),
        "PATH": f"{kubectl.parent}:{os.environ['PATH']}",
    }
    return os.execvpe(program, [program], environment)  # noqa: S606 - the user asked for a shell
