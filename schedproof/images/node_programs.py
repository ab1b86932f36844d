"""The programs of a node image, and the image names under which some of them are put: each is what its name says."""

from __future__ import annotations

import re
from collections.abc import Mapping

from schedproof import programs
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.programs import version_check
from schedproof.programs.table import KUBERNETES, PROGRAMS
from schedproof.settings import Settings

ON_THE_NODE: Mapping[str, str] = {
    # kind and the units look for them in these folders.
    **dict.fromkeys(("kubeadm", "kubectl", "kubelet"), "usr/bin"),
    **dict.fromkeys(("containerd", "containerd-shim-runc-v2", "crictl", "ctr"), "usr/local/bin"),
}
"""Programs that run on the node itself, and their folders."""

CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
IN_IMAGES = (*CONTROL_PLANE, "kube-proxy", "etcd", "coredns", "flannel")
"""Programs that run in pods, each in an image of its own."""


class NodePrograms:
    """The programs of one Kubernetes version, each asked for its version, and the image names that kubeadm wants.

    Raises:
        ImageError: A program is not the version that its name or its image's name says.
    """

    def __init__(self, kubernetes: str, settings: Settings) -> None:
        self.kubernetes = kubernetes
        wanted = [*ON_THE_NODE, *IN_IMAGES]
        ours = [name for name in wanted if PROGRAMS[name].family is KUBERNETES]
        self.paths = programs.ensure(ours, kubernetes, settings, exact=True)
        self.versions = programs.versions(kubernetes, settings)
        for name in wanted:
            if name not in ours:
                self.paths |= programs.ensure([name], self.versions[name], settings, exact=True)
        self.images = self._images(programs.images(kubernetes, settings))
        for name, path in self.paths.items():
            try:
                version_check.require(PROGRAMS[name], path, self.versions[name])
            except version_check.WrongVersionError as error:
                raise ImageError(
                    f"{name} in the node image is {self.versions[name]}",
                    seen=error.message.seen,
                    cause=f"{path} is not what its name says",
                    cure="`make clean` removes kept programs; they are then made again",
                ) from error
        self.pause = programs.build_own(
            manifests("images", "node", "pause"),
            "pause",
            stamps=[f"main.version={self.images['pause'].rpartition(':')[2]}"],
        )

    def _images(self, listed: list[str]) -> dict[str, str]:
        """Return the image name for each program, and hold its tag against the program's version."""
        by_name = {name.rpartition(":")[0].rpartition("/")[2]: name for name in listed}
        missing = {*IN_IMAGES, "pause"} - {"flannel"} - set(by_name)
        unknown = set(by_name) - {*IN_IMAGES, "pause"}
        for program in set(IN_IMAGES) & set(by_name):
            number = re.sub(r"-[0-9]+$", "", by_name[program].rpartition(":")[2]).removeprefix("v")
            if f"v{number}" != self.versions[program]:
                missing.add(program)
        if missing or unknown:
            raise ImageError(
                f"kubeadm {self.kubernetes} names images that schedproof can make: {', '.join(IN_IMAGES)}, pause",
                seen=", ".join(listed),
                cause=f"not as expected: {', '.join(sorted(missing | unknown))}",
                cure="use a version that docs/programs.md names, or give a node image with NODE_IMAGE=",
            )
        return {**by_name, "flannel": f"localhost/schedproof/flannel:{self.versions['flannel']}"}

    def sentence(self) -> str:
        """Return all programs with their versions, in one line."""
        return ", ".join(f"{name} {self.versions[name]}" for name in self.paths)
