"""Checks of the container engine and of what is in it."""

from __future__ import annotations

from schedproof.errors import EngineError
from schedproof.host.docker import EngineUnreachable, docker
from schedproof.host.engine import Way, way
from schedproof.host.finding import Finding, bad, ok, warning
from schedproof.host.probe import NEWER_DOCKER, unfit
from schedproof.host.sight import Sight

CLUSTER_LABEL = "io.x-k8s.kind.cluster"
"""kind's label on every node container; its value is the cluster's name."""


def answers(sight: Sight) -> Finding:
    """An engine answers, or may be brought up."""
    if sight.engine is not None:
        return ok(f"Docker {sight.engine.version} answers" + (", rootless" if sight.engine.rootless else ""))
    trouble = sight.trouble
    if isinstance(trouble, EngineUnreachable) and trouble.why == "silent":
        return warning(trouble.seen, trouble.message.cure)
    try:
        chosen = _way(sight)
    except EngineError as error:
        return bad(f"{error.message.expected}: {error.message.seen or 'no'}", error.message.cure)
    what = "installed and started" if chosen.install else "started"
    seen = "none is installed" if chosen.install else f"{chosen.program} is installed and does not run"
    if sight.settings.bootstrap == "0":
        return bad(f"{seen}; BOOTSTRAP=0 forbids that schedproof does it", "install or start Docker by hand")
    if not sight.machine.is_root:
        return bad(
            f"{seen}; it takes root", f"install or start Docker by hand, or run `make e2e` as root ({what} then)"
        )
    return warning(seen, f"`make e2e` has one {what}, and asks first on a terminal")


def _way(sight: Sight) -> Way:
    if isinstance(sight.trouble, EngineUnreachable):
        return way(sight.trouble, sight.machine)
    raise sight.trouble or EngineError("a container engine answers")


def privileged_containers(sight: Sight) -> Finding:
    """Nodes of kind are privileged containers."""
    if sight.engine is not None and (why := unfit(sight.engine, sight.machine)):
        return bad(why, NEWER_DOCKER)
    if sight.engine is not None and sight.engine.rootless and sight.engine.cgroup_version == 1:
        return bad("a rootless engine on cgroup v1: kind's nodes need v2 there", "use the engine of root, or cgroup v2")
    lacking = (
        "CAP_SYS_RESOURCE is missing; Docker 23 or newer copes" if sight.machine.lacks_sys_resource else "all there"
    )
    return ok(lacking)


def user(sight: Sight) -> Finding:
    """This user may use the engine."""
    if isinstance(sight.trouble, EngineUnreachable) and sight.trouble.why == "denied":
        return bad("this user may not use the engine", sight.trouble.message.cure)
    return ok("root" if sight.machine.is_root else "may use the engine" if sight.engine else "not root")


def image_store(sight: Sight) -> Finding:
    """Where the engine keeps images decides how they are loaded into nodes."""
    if sight.engine is None:
        return ok("no engine to ask yet")
    driver = sight.engine.storage_driver
    if driver == "vfs":
        return warning("vfs: every layer is a whole copy, slow and large", "let the engine use overlay2 (daemon.json)")
    if sight.engine.containerd_store:
        return ok(f"{driver}, containerd's: images are loaded as archives of one platform (kind#3795)")
    return ok(driver)


def cgroups(sight: Sight) -> Finding:
    """The kubelet refuses version 1 since Kubernetes 1.35 unless told otherwise."""
    version = sight.engine.cgroup_version if sight.engine else sight.machine.cgroup_version
    return ok({2: "v2", 1: "v1: the kubelets are told failCgroupV1: false"}.get(version, "the engine will tell"))


def registry(sight: Sight) -> Finding:
    """Images are pulled, or built."""
    if sight.registry is None:
        return ok("the engine pulls through a mirror or a proxy; whether it gets through shows when it pulls")
    if sight.registry:
        return ok("reachable: node image and busybox can be pulled")
    if sight.warm:
        return ok("not reachable; node image and scheduler of an earlier run are here")
    return ok(
        "not reachable: programs and images are built from Go modules and Debian packages (25 min the first time)"
    )


def leftovers(sight: Sight) -> Finding:
    """Clusters that runs left behind, and those that are kept."""
    if sight.engine is None:
        return ok("no engine to ask yet")
    from schedproof.cluster import owner

    running = docker(
        "ps", "--all", "--filter", f"label={CLUSTER_LABEL}", "--format", f'{{{{.Label "{CLUSTER_LABEL}"}}}}'
    )
    clusters = set(running.stdout.split())
    left: list[str] = []
    kept: list[str] = []
    records = {record.name: record for record in owner.records()}
    for name, record in records.items():
        holder = owner.take(name)
        if holder is None:
            continue  # a live run's
        holder.release()
        (kept if record.keep and record.phase == "ready" and name in clusters else left).append(name)
    others = clusters - set(records)
    # Our names without a record: the state folder was removed while the engine's data stayed, or they are the bench's.
    orphans = sorted(name for name in others if name.startswith(owner.PREFIX) and "-bench-" not in name)
    notes = [f"kept: {', '.join(kept)}"] if kept else []
    notes += [f"{len(others) - len(orphans)} kind cluster(s) of others, never touched"] if others - set(orphans) else []
    if orphans:
        label = f"label={CLUSTER_LABEL}={orphans[0]}"
        return warning(
            "; ".join([f"named as ours, but without a record: {', '.join(orphans)}", *notes]),
            f"if nobody uses it: docker rm -fv $(docker ps -aqf {label})",
        )
    if left:
        return warning(
            "; ".join([f"of an ended run: {', '.join(left)}", *notes]), "the next run removes it; so does `make clean`"
        )
    return ok("; ".join(notes) or "none")
