"""pytest-kubernetes' way, as its README shows: ``k8s.wait(target, condition)``. Arguments: KUBECONFIG.

kubectl is the one on PATH.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from bench.waiters.protocol import serve


def main(kubeconfig: str) -> None:
    """Wait by the cluster manager that the fixture ``k8s`` hands out for an existing cluster."""
    # Not an import statement: it is in the benchmark's environment only, and type checkers look in ours.
    providers: Any = importlib.import_module("pytest_kubernetes.providers")
    k8s = providers.select_provider_manager("external", {"kubeconfig": kubeconfig})()

    def wait(namespace: str, name: str) -> None:
        k8s.wait(f"pod/{name}", "condition=PodScheduled=True", timeout=120, namespace=namespace)

    serve(wait)


if __name__ == "__main__":
    main(*sys.argv[1:])
