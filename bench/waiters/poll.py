"""What most scripts do: ask, sleep a second, ask again. Arguments: KUBECONFIG."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.waiters.protocol import serve
from schedproof.api import Api

PAUSE = 1.0


def main(kubeconfig: str) -> None:
    """Wait with ``time.sleep(1)``."""
    api = Api(Path(kubeconfig))

    def wait(namespace: str, name: str) -> None:
        while not (api.get("Pod", name, namespace) or {"spec": {}})["spec"].get("nodeName"):
            time.sleep(PAUSE)

    serve(wait)


if __name__ == "__main__":
    main(*sys.argv[1:])
