"""kr8s' way, as its documentation shows: ``pod.wait("condition=...")``. Arguments: KUBECONFIG."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from bench.waiters.protocol import serve


def main(kubeconfig: str) -> None:
    """Wait by ``Pod.wait``."""
    # Not an import statement: kr8s is in the benchmark's environment only, and type checkers look in ours.
    kr8s: Any = importlib.import_module("kr8s")
    objects: Any = importlib.import_module("kr8s.objects")
    api = kr8s.api(kubeconfig=kubeconfig)
    list(objects.Pod.list(namespace="default", api=api))

    def wait(namespace: str, name: str) -> None:
        objects.Pod.get(name, namespace=namespace, api=api).wait("condition=PodScheduled", timeout=120)

    serve(wait)


if __name__ == "__main__":
    main(*sys.argv[1:])
