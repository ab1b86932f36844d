"""Everything between a machine and the first claim, in order: host, engine, programs, images, cluster.

What does not wait for something else runs beside it: kind is fetched while the node image is made, kubectl and the
scheduler's image follow as soon as the version of the cluster is known, and the image is loaded while kubeadm works.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from schedproof import command, programs
from schedproof.cluster.facts import Facts
from schedproof.cluster.foreign import adopt
from schedproof.cluster.kind import Cluster
from schedproof.cluster.start import running
from schedproof.delivery.leftovers import removed_at_the_end
from schedproof.errors import UsageError
from schedproof.host.checks import require_host
from schedproof.host.engine import ensure_engine
from schedproof.images.node import NodeImage, ensure_node_image
from schedproof.images.scheduler import SchedulerImage, ensure_scheduler_image
from schedproof.settings import DEFAULT_KUBERNETES, Settings


@contextlib.contextmanager
def prepare(settings: Settings) -> Iterator[Facts]:
    """Yield the facts of a cluster that is ready and has the image under test; afterwards nothing of it remains.

    With ``settings.keep`` the cluster stays for the next run; a foreign cluster is only looked at.

    Raises:
        HarnessError: Something on the way could not be done; what had been made is removed.
        UsageError: The settings do not go together.
    """
    if settings.existing_kubeconfig:
        yield _foreign(settings)
        return
    require_host(settings)
    ensure_engine(settings)
    made = _make(settings)
    with (
        running(
            settings,
            kind=made.kind,
            kubectl=made.kubectl,
            node_image=made.node.tag,
            kubernetes=made.node.kubernetes,
            while_booting=lambda cluster: cluster.load(made.scheduler.tag),
        ) as cluster,
        removed_at_the_end(cluster.name),
    ):
        yield _facts(cluster, made.scheduler)


@dataclasses.dataclass(frozen=True)
class _Made:
    kind: Path
    kubectl: Path
    node: NodeImage
    scheduler: SchedulerImage


def _make(settings: Settings) -> _Made:
    """Make or find what a cluster is made of; the scheduler's image has answered ``--version`` when this returns."""
    with ThreadPoolExecutor(thread_name_prefix="prepare") as pool:
        try:
            kind = pool.submit(programs.ensure, ["kind"], programs.kind_version(), settings)
            node = ensure_node_image(settings)
            kubectl = pool.submit(programs.ensure, ["kubectl"], node.kubernetes, settings)
            scheduler = ensure_scheduler_image(settings, node.kubernetes)
            return _Made(kind.result()["kind"], kubectl.result()["kubectl"], node, scheduler)
        except BaseException:
            # Leaving the block waits for the threads: what they run must not outlive our interest in it.
            pool.shutdown(wait=False, cancel_futures=True)
            command.end_all()
            raise


def _facts(cluster: Cluster, scheduler: SchedulerImage) -> Facts:
    return _with_scheduler(cluster.facts(), scheduler)


def _with_scheduler(facts: Facts, scheduler: SchedulerImage) -> Facts:
    return dataclasses.replace(
        facts,
        scheduler_image=scheduler.tag,
        scheduler_image_id=scheduler.id,
        scheduler_version=scheduler.version,
        scheduler_command=scheduler.command,
    )


def _foreign(settings: Settings) -> Facts:
    """Look at the user's cluster. Nothing can be loaded into its nodes, so the image must be one that they can pull."""
    if not settings.scheduler_image:
        raise UsageError(
            "SCHEDULER_IMAGE names the scheduler under test when EXISTING_KUBECONFIG is set",
            seen="no SCHEDULER_IMAGE",
            cause="an image built here cannot be loaded into nodes that schedproof did not make",
            cure="push the image to a registry that these nodes reach, and name it",
        )
    version = settings.kubernetes_version or DEFAULT_KUBERNETES
    kubectl = programs.ensure(["kubectl"], version, settings)["kubectl"]
    facts = adopt(Path(settings.existing_kubeconfig), kubectl)
    # The image is looked into before it is deployed; for that an engine must be there, but is never installed.
    ensure_engine(dataclasses.replace(settings, bootstrap="0"))
    return _with_scheduler(facts, ensure_scheduler_image(settings, facts.kubernetes))
