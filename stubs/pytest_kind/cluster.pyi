from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

class KindCluster:
    name: str
    image: str | None
    path: Path
    kubeconfig_path: Path
    kind_path: Path
    kubectl_path: Path
    @property
    def api(self) -> Any: ...
    def __init__(
        self,
        name: str,
        kubeconfig: Path | None = None,
        image: str | None = None,
        kind_path: Path | None = None,
        kubectl_path: Path | None = None,
    ) -> None: ...
    def ensure_kind(self) -> None: ...
    def ensure_kubectl(self) -> None: ...
    def create(self, config_file: str | Path | None = None) -> None: ...
    def load_docker_image(self, docker_image: str) -> None: ...
    def kubectl(self, *args: str, **kwargs: Any) -> str: ...
    def port_forward(
        self,
        service_or_pod_name: str,
        remote_port: int,
        *args: str,
        local_port: int | None = None,
        retries: int = 10,
    ) -> AbstractContextManager[int]: ...
    def delete(self) -> None: ...
