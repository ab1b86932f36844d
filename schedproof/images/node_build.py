"""Build a kind node image: Debian, Kubernetes' programs, and the control plane's images in containerd's store."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from schedproof import folders, programs
from schedproof.command import end_all
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.host.docker import docker
from schedproof.images import engine, node_rootfs
from schedproof.images.node_archive import SEARCH_PATH, Blob, Layout, add_file, add_link
from schedproof.programs import provider, version_check
from schedproof.programs.table import KUBERNETES, PROGRAMS
from schedproof.progress import Step, progress
from schedproof.settings import Settings

REPOSITORY = "schedproof/node"
RECIPE_LABEL = "schedproof.node.recipe"
KUBERNETES_LABEL = "schedproof.node.kubernetes"
PROGRAMS_LABEL = "schedproof.node.programs"

ON_THE_NODE: Mapping[str, str] = {
    # kind and the units look for them in these folders.
    **dict.fromkeys(("kubeadm", "kubectl", "kubelet"), "usr/bin"),
    **dict.fromkeys(("containerd", "containerd-shim-runc-v2", "crictl", "ctr"), "usr/local/bin"),
}
"""Programs that run on the node itself, and their folders."""

CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
IN_IMAGES = (*CONTROL_PLANE, "kube-proxy", "etcd", "coredns", "flannel")
"""Programs that run in pods, each in an image of its own."""

TOOL_PACKAGES = ("dash", "iptables", "nftables", "kmod")
"""Debian packages in the images of kube-proxy and flannel: iptables' two back ends, modprobe, and a shell to choose."""

IPTABLES_NAMES = tuple(f"ip{six}tables{what}" for six in ("", "6") for what in ("", "-save", "-restore"))

ASSEMBLE = 300.0
"""Seconds for each of the engine's parts in it: 10 here, and a slow disk writes a gigabyte in a minute."""


def recipe(kubernetes: str) -> str:
    """Return a short hash of all that decides what a node image of ours is: data, code and versions of programs."""
    digest = hashlib.sha256(kubernetes.encode())
    # What the rest of a version is (etcd, CoreDNS, pause) follows from Kubernetes' own.
    digest.update(
        repr(sorted({(program.family.name, program.family.pinned) for program in PROGRAMS.values()})).encode()
    )
    data = manifests("images", "node")
    code = sorted(Path(__file__).parent.glob("node_*.py"))
    for path in (*sorted(path for path in data.rglob("*") if path.is_file() and path.suffix != ".md"), *code):
        digest.update(f"\0{path.name}\0{path.stat().st_mode & 0o111:o}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def tag(kubernetes: str) -> str:
    """Return the tag of our node image of a Kubernetes version."""
    return f"{REPOSITORY}:{kubernetes}"


def build(kubernetes: str, settings: Settings) -> str:
    """Build the node image and return its tag; another run that builds the same is waited for.

    Raises:
        ImageError: It cannot be built here, or a program or image is not what its name says.
        ProgramError: A program cannot be had.
        CommandFailed: The engine or mmdebstrap failed.
    """
    with folders.lock(f"node-image-{kubernetes}"):
        if engine.labels(tag(kubernetes)).get(RECIPE_LABEL) == recipe(kubernetes):
            return tag(kubernetes)
        with progress.step(f"node image {tag(kubernetes)}") as step, ThreadPoolExecutor(1) as beside:
            try:
                # Debian comes over the network and from the disk while the compiler has the processors.
                system = beside.submit(_system)
                found = _Programs(kubernetes, settings)
                step.say(found.sentence())
                rootfs, base = system.result()
            except BaseException:
                end_all()
                raise
            with tempfile.TemporaryDirectory(prefix="node-", dir=folders.cache()) as folder:
                _stage(Path(folder), rootfs, found)
                _assemble(Path(folder), base, found, step)
    return tag(kubernetes)


def _system() -> tuple[Path, str]:
    rootfs = node_rootfs.ensure_rootfs()
    return rootfs, node_rootfs.ensure_base_image(rootfs)


class _Programs:
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


def _stage(folder: Path, rootfs: Path, found: _Programs) -> None:
    """Lay out below ``folder`` everything that comes on top of Debian."""
    data = manifests("images", "node")
    with progress.step("control-plane images as files"):
        root = folder / "root"
        shutil.copytree(data / "rootfs", root)
        for path in (root / "etc/containerd/config.toml", root / "kind/manifests/default-cni.yaml"):
            text = path.read_text(encoding="utf-8")
            text = text.replace("@PAUSE@", found.images["pause"]).replace("@FLANNEL@", found.images["flannel"])
            path.write_text(text, encoding="utf-8")
        (root / "kind" / "version").write_text(found.kubernetes, encoding="utf-8")
        for name in ("assemble.sh", "masked-units.txt"):
            shutil.copy(data / name, root / "kind" / name)
        for name, place in ON_THE_NODE.items():
            (root / place).mkdir(parents=True, exist_ok=True)
            _link_or_copy(found.paths[name], root / place / name)
        pause_tag = found.images["pause"].rpartition(":")[2]
        pause = programs.build_own(data / "pause", "pause", stamps=[f"main.version={pause_tag}"])
        _write_images(Layout(root / "kind" / "images", provider.architecture()), rootfs, found, pause)


def _write_images(layout: Layout, rootfs: Path, found: _Programs, pause: Path) -> None:
    tools = layout.layer(partial(_add_tools, rootfs))

    def own(name: str, path: Path, below: tuple[Blob, ...] = (), *, entrypoint: bool = False) -> None:
        place = f"/usr/local/bin/{name}"
        layer = layout.layer(lambda archive: add_file(archive, path, place))
        # kubeadm's manifests name the program themselves, except CoreDNS' and of course pause.
        layout.image(found.images[name], [*below, layer], entrypoint=[place] if entrypoint else [])

    for name in (*CONTROL_PLANE, "etcd"):
        own(name, found.paths[name])
    own("coredns", found.paths["coredns"], entrypoint=True)
    own("pause", pause, entrypoint=True)
    for name in ("kube-proxy", "flannel"):
        own(name, found.paths[name], (tools,))
    layout.finish()


def _add_tools(rootfs: Path, archive: tarfile.TarFile) -> None:
    node_rootfs.copy_packages(rootfs, TOOL_PACKAGES, archive)
    add_file(archive, manifests("images", "node", "tools", "iptables"), "/usr/local/sbin/iptables")
    for name in IPTABLES_NAMES[1:]:
        add_link(archive, f"/usr/local/sbin/{name}", "iptables")


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy(source, target)


def _assemble(folder: Path, base: str, found: _Programs, step: Step) -> None:
    """Put it all into a container, let it import the images, and commit that as the node image."""
    # The lock on this version is ours: a container of this name is what a killed run left.
    container = f"schedproof-node-image-{found.kubernetes}"
    docker("rm", "--force", "--volumes", container, check=False)
    with progress.step("node image put together by the engine"):
        try:
            docker("create", "--name", container, "--label", "schedproof=node-image", base, "/kind/assemble.sh")
            docker("cp", f"{folder / 'root'}/.", f"{container}:/", seconds=ASSEMBLE)
            imported = docker("start", "--attach", container, seconds=ASSEMBLE).stdout.split()
            if missing := set(found.images.values()) - set(imported):
                raise ImageError(
                    "the node image holds every image that kubeadm names",
                    seen=f"missing: {', '.join(sorted(missing))}",
                    cause="containerd did not import them",
                    cure="report it with this output",
                )
            changes = [
                'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]',
                "CMD []",
                "STOPSIGNAL SIGRTMIN+3",  # what systemd in a container ends at
                f"ENV container=docker {SEARCH_PATH}",  # how systemd knows that it is in a container
                f"LABEL {RECIPE_LABEL}={recipe(found.kubernetes)}",
                f"LABEL {KUBERNETES_LABEL}={found.kubernetes}",
                f'LABEL {PROGRAMS_LABEL}="{found.sentence()}"',
            ]
            docker(
                "commit",
                *(f"--change={change}" for change in changes),
                container,
                tag(found.kubernetes),
                seconds=ASSEMBLE,
            )
        finally:
            docker("rm", "--force", "--volumes", container, check=False)
    step.say(f"{tag(found.kubernetes)} is ready")
