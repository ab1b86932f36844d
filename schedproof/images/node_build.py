"""Build a kind node image: Debian, Kubernetes' programs, and the control plane's images in containerd's store."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from schedproof import folders
from schedproof.command import end_all
from schedproof.data import manifests
from schedproof.errors import ImageError
from schedproof.host.docker import docker
from schedproof.images import engine, node_rootfs
from schedproof.images.node_archive import SEARCH_PATH, Blob, Layout, add_file, add_link
from schedproof.images.node_programs import CONTROL_PLANE, ON_THE_NODE, NodePrograms
from schedproof.programs import provider
from schedproof.programs.table import PROGRAMS
from schedproof.progress import progress
from schedproof.settings import Settings

REPOSITORY = "schedproof/node"
RECIPE_LABEL = "schedproof.node.recipe"
KUBERNETES_LABEL = "schedproof.node.kubernetes"
PROGRAMS_LABEL = "schedproof.node.programs"

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
        digest.update(f"\0{path.name}\0".encode())
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
        wanted = recipe(kubernetes)
        if engine.labels(tag(kubernetes)).get(RECIPE_LABEL) == wanted:
            return tag(kubernetes)
        node_rootfs.debian_sources()  # a machine that cannot do it says so now, not after minutes of compiling
        with progress.step(f"node image {tag(kubernetes)}") as step, ThreadPoolExecutor(1) as beside:
            try:
                # Debian comes over the network and from the disk while the compiler has the processors.
                system = beside.submit(_system)
                found = NodePrograms(kubernetes, settings)
                step.say(found.sentence())
                rootfs, base = system.result()
            except BaseException:
                end_all()
                raise
            folder = folders.cache() / "images" / f"node-{kubernetes}.making"
            shutil.rmtree(folder, ignore_errors=True)  # a killed run's; the lock is ours
            try:
                stage(folder, rootfs, found)
                _assemble(folder, base, found, wanted)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    return tag(kubernetes)


def _system() -> tuple[Path, str]:
    rootfs = node_rootfs.ensure_rootfs()
    return rootfs, node_rootfs.ensure_base_image(rootfs)


def stage(folder: Path, rootfs: Path, found: NodePrograms) -> None:
    """Lay out below ``folder / "root"`` everything that comes on top of Debian."""
    data = manifests("images", "node")
    with progress.step("control-plane images as files"):
        root = folder / "root"
        for source in sorted(path for path in (data / "rootfs").rglob("*") if path.is_file()):
            text = source.read_text(encoding="utf-8")
            text = text.replace("@PAUSE@", found.images["pause"]).replace("@FLANNEL@", found.images["flannel"])
            _write(root / source.relative_to(data / "rootfs"), text)
        for name in ("assemble.sh", "masked-units.txt"):
            _write(root / "kind" / name, (data / name).read_text(encoding="utf-8"))
        _write(root / "kind" / "version", found.kubernetes)
        for name, place in ON_THE_NODE.items():
            (root / place).mkdir(parents=True, exist_ok=True)
            _link_or_copy(found.paths[name], root / place / name)
        _write_images(Layout(root / "kind" / "images", provider.architecture()), rootfs, found)
        # The engine takes modes over, also of folders that Debian has: whatever our umask, /usr stays readable.
        for path in (root, *(path for path in root.rglob("*") if path.is_dir())):
            path.chmod(0o755)


def _write(target: Path, text: str) -> None:
    """Write a file that may be run if it is a script: not every way of installing a package keeps modes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    target.chmod(0o755 if text.startswith("#!") else 0o644)


def _write_images(layout: Layout, rootfs: Path, found: NodePrograms) -> None:
    tools = layout.layer(partial(_add_tools, rootfs))

    def own(name: str, path: Path, below: tuple[Blob, ...] = (), *, entrypoint: bool = False) -> None:
        place = f"/usr/local/bin/{name}"
        layer = layout.layer(lambda archive: add_file(archive, path, place))
        # kubeadm's manifests name the program themselves, except CoreDNS' and of course pause.
        layout.image(found.images[name], [*below, layer], entrypoint=[place] if entrypoint else [])

    for name in (*CONTROL_PLANE, "etcd"):
        own(name, found.paths[name])
    own("coredns", found.paths["coredns"], entrypoint=True)
    own("pause", found.pause, entrypoint=True)
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


def _assemble(folder: Path, base: str, found: NodePrograms, label: str) -> None:
    """Put it all into a container, let it import the images, and commit that as the node image."""
    # The lock on this version is ours: a container of this name is what a killed run left.
    container = f"schedproof-node-image-{found.kubernetes}"
    docker("rm", "--force", "--volumes", container, check=False)
    with progress.step("node image put together by the engine"):
        try:
            # No label: it would be committed too, and every node of a cluster would bear it.
            docker("create", "--name", container, base, "/kind/assemble.sh")
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
                f"LABEL {RECIPE_LABEL}={label}",
                f"LABEL {KUBERNETES_LABEL}={found.kubernetes}",
                f'LABEL {PROGRAMS_LABEL}="{found.sentence()}"',
            ]
            older = engine.inspect(tag(found.kubernetes))
            docker(
                "commit",
                *(f"--change={change}" for change in changes),
                container,
                tag(found.kubernetes),
                seconds=ASSEMBLE,
            )
            if older is not None:
                # It has lost its tag to the new one. Without force: the nodes of a kept cluster may still run it.
                docker("image", "rm", str(older["Id"]), check=False)
        finally:
            docker("rm", "--force", "--volumes", container, check=False)
