# Types of pykube-ng, which pytest-kind's KindCluster.api is made of.
from pathlib import Path

class KubeConfig:
    @classmethod
    def from_file(cls, filename: Path | str) -> KubeConfig: ...

class HTTPClient:
    def __init__(self, config: KubeConfig) -> None: ...
