"""Checks of the machine itself: processors, memory, disks, kernel limits, proxies."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from schedproof.host.finding import Finding, bad, mended, ok, size, warning
from schedproof.host.sight import Sight, cache_folder

GIB = 1 << 30

MEMORY = 4 * GIB
"""Three nodes take 0.9 GiB idle and 2 GiB under claims; linking Kubernetes' programs takes up to 2 GiB more."""

ENGINE_DISK = 5 * GIB
"""Node image, scheduler images, three nodes' writable layers."""

BUILD_DISK = 15 * GIB
"""Go's build cache (bounded at 6 GiB), its module cache, finished programs."""

KEPT_DISK = 2 * GIB
"""Programs and images of one version, downloaded."""

INOTIFY = (
    ("max_user_instances", 512, "systemd, containerd and kubelet of three nodes take about 100"),
    ("max_user_watches", 131072, "each followed log file takes one"),
)
"""Limit, the least value, and what uses it: https://kind.sigs.k8s.io/docs/user/known-issues"""


def architecture(sight: Sight) -> Finding:
    """Kubernetes' programs are built for two architectures here."""
    known = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
    here = known.get(sight.machine.architecture.lower())
    if here is None:
        return bad(f"{sight.machine.architecture} is not supported", "use an amd64 or arm64 machine")
    if sight.engine is not None and sight.engine.arch != here:
        return bad(
            f"this machine is {here}, the engine's is {sight.engine.arch}", "use an engine of the same architecture"
        )
    return ok(here + ("" if here == "amd64" else " (never run by us, see docs/unproven.md)"))


def cpus(sight: Sight) -> Finding:
    """A cluster on one processor is slow enough to miss deadlines."""
    count = sight.engine.cpus if sight.engine and sight.engine.cpus else sight.machine.cpus
    return (
        ok(str(count)) if count > 1 else warning(f"{count}: waits may run into their deadlines", "give it two or more")
    )


def memory(sight: Sight) -> Finding:
    """Three nodes, and a build beside them, need room."""
    free = sight.machine.memory("MemAvailable")
    if free is None:
        whole = sight.engine.memory if sight.engine else 0
        return ok(f"{size(whole)} in all on the engine's machine" if whole else "cannot be told from here")
    if free >= MEMORY:
        return ok(f"{size(free)} free")
    judged = bad if free < MEMORY // 2 else warning
    return judged(f"{size(free)} free, {size(MEMORY)} are wanted", "end something, or add memory; NODES=1 needs less")


def engine_disk(sight: Sight) -> Finding:
    """Images and nodes live in the engine's folder."""
    root = Path(sight.engine.root if sight.engine and sight.engine.root else "/var/lib/docker")
    if sight.machine.system != "Linux" or (sight.engine is not None and not sight.machine.path(str(root)[1:]).exists()):
        return ok("on the engine's own machine, cannot be seen from here")
    return _disk(sight, sight.machine.path(str(root).lstrip("/")), ENGINE_DISK, "docker system prune, or a larger disk")


def cache_disk(sight: Sight) -> Finding:
    """Programs and the build cache live in ours."""
    wanted = BUILD_DISK if sight.builds else KEPT_DISK
    return _disk(sight, cache_folder(), wanted, "free space, or choose another place with SCHEDPROOF_CACHE")


def _disk(sight: Sight, place: Path, wanted: int, cure: str) -> Finding:
    free = sight.machine.free(place)
    if free is None:
        return ok(f"{place}: cannot be told")
    if free >= wanted:
        return ok(f"{size(free)} free in {place}")
    judged = bad if free < wanted // 2 else warning
    return judged(f"{size(free)} free in {place}, {size(wanted)} are wanted", cure)


def inotify(sight: Sight) -> Finding:
    """Too few instances: the nodes' systemd or kubelet fails with "too many open files" (kind#2586)."""
    small = small_limits(sight)
    if not small:
        return ok(", ".join(f"{name} {sight.machine.number(_place(name)) or 'not told'}" for name, _, _ in INOTIFY))
    command = " ".join(["sysctl -w", *(f"fs.inotify.{name}={least}" for name, _, least in small)])
    told = ", ".join(f"{name} {now}, {least} are wanted" for name, now, least in small)
    if sight.mend and sight.machine.is_root:
        try:
            for name, _, least in small:
                sight.machine.path(_place(name)).write_text(f"{least}\n", encoding="ascii")
        except OSError as error:
            return warning(
                f"{told}; root may not raise it here ({error.strerror})", f"on the machine outside: {command}"
            )
        return mended("until the next boot: " + ", ".join(f"{name} {now} -> {least}" for name, now, least in small))
    return warning(told, f"sudo {command}")


def small_limits(sight: Sight) -> list[tuple[str, int, int]]:
    """Return the limits that are too small: name, value, least value."""
    seen = [(name, sight.machine.number(_place(name)), least) for name, least, _ in INOTIFY]
    return [(name, now, least) for name, now, least in seen if now is not None and now < least]


def _place(name: str) -> str:
    return f"proc/sys/fs/inotify/{name}"


def proxies(sight: Sight) -> Finding:
    """A proxy must not be asked for the cluster's API server, which listens on this machine."""
    env = {
        name.lower(): value
        for name, value in sight.machine.environ.items()
        if name.lower().endswith("_proxy") and value
    }
    set_ones = [name for name in ("http_proxy", "https_proxy", "all_proxy") if name in env]
    if not set_ones:
        return ok("none")
    # The host only: addresses of proxies may carry a password.
    told = ", ".join(f"{name} {urlsplit(env[name]).hostname or 'set'}" for name in set_ones)
    if _passes_by(env.get("no_proxy", "")):
        return ok(f"{told}; not for 127.0.0.1")
    return warning(
        f"{told}, also for 127.0.0.1, where the cluster listens", "export NO_PROXY=localhost,127.0.0.1,$NO_PROXY"
    )


def _passes_by(no_proxy: str) -> bool:
    entries = [entry.strip() for entry in no_proxy.split(",")]
    return "*" in entries or any(_holds_loopback(entry) for entry in entries)


def _holds_loopback(entry: str) -> bool:
    try:
        return ipaddress.ip_address("127.0.0.1") in ipaddress.ip_network(entry, strict=False)
    except ValueError:
        return False


def swap(sight: Sight) -> Finding:
    """With kind the kubelet does not mind swap; it only makes times uneven."""
    amount = sight.machine.memory("SwapTotal")
    return ok(f"{size(amount)}: times may be uneven when it is used" if amount else "none")
