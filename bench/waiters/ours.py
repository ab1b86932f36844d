"""schedproof's way: list, then watch. Arguments: KUBECONFIG."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.waiters.protocol import serve
from schedproof.api import Api
from schedproof.pods import Pods
from schedproof.watch.deadlines import Deadline

BENCH = Deadline("BENCH", 120, "the measuring process binds the pod seconds after the wait began")


def main(kubeconfig: str) -> None:
    """Wait as a claim does."""
    api = Api(Path(kubeconfig))
    api.list("Pod", "default")  # the connection is there in a claim, too

    def wait(namespace: str, name: str) -> None:
        pod = Pods(api, namespace).get(name)
        assert pod is not None
        pod.wait_until_bound(BENCH)

    serve(wait)


if __name__ == "__main__":
    main(*sys.argv[1:])
