"""``kubectl wait``, started anew for every pod as it always is. Arguments: KUBECONFIG KUBECTL."""

from __future__ import annotations

import subprocess
import sys

from bench.waiters.protocol import serve


def main(kubeconfig: str, kubectl: str) -> None:
    """Wait by kubectl's exit."""

    def wait(namespace: str, name: str) -> None:
        options = ["--kubeconfig", kubeconfig, "--namespace", namespace, "--timeout=120s"]
        argv = [kubectl, "wait", f"pod/{name}", "--for=condition=PodScheduled", *options]
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)

    serve(wait)


if __name__ == "__main__":
    main(*sys.argv[1:])
