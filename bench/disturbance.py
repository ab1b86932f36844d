"""Mutants that disturb the cluster instead of breaking YAML, let loose beside a rival's test.

Our own claims tell such a mutant of every moment themselves. A rival's test does not, so a watch beside it does, a few
milliseconds later: a pod that appears is the moment ``apply``.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import isgenerator

from fixtures.mutation import Mutation
from fixtures.world import Moments, World
from schedproof.api import Api
from schedproof.cluster.facts import Facts
from schedproof.errors import SchedproofError
from schedproof.mutants import WORLD, Mutant
from schedproof.pods import Pods
from schedproof.progress import progress
from schedproof.watch.follow import Following

NAMESPACE = "default"
"""Where the rivals' pods are."""

LONGEST = 300.0
"""Seconds after which the watch ends by itself."""


@contextmanager
def disturbed(mutant: Mutant, facts: Facts) -> Iterator[None]:
    """Let a mutant of the world disturb the cluster within the block; one of another input does nothing here."""
    if mutant.input != WORLD:
        yield
        return
    moments, telling, over = Moments(), threading.Lock(), threading.Event()
    begun = mutant.function(World(Api(facts.kubeconfig), facts, NAMESPACE, moments, Mutation(mutant)))
    if isgenerator(begun):
        next(begun)
    threading.Thread(target=_tell, args=(facts, moments, telling, over), daemon=True).start()
    try:
        yield
    finally:
        with telling:  # what has been begun comes to its end before it is undone
            over.set()
        if isgenerator(begun):
            next(begun, None)


def _tell(facts: Facts, moments: Moments, telling: threading.Lock, over: threading.Event) -> None:
    """Tell of each new pod once, until the block is over."""
    api = Api(facts.kubeconfig)
    pods, known = Pods(api, NAMESPACE), set[str]()
    try:
        for found in Following(api, "Pod", NAMESPACE, end=time.monotonic() + LONGEST).snapshots():
            for pod in found:
                with telling:
                    if over.is_set():
                        return
                    if pod["metadata"]["uid"] not in known:
                        known.add(pod["metadata"]["uid"])
                        if (one := pods.get(pod["metadata"]["name"])) is not None:
                            moments.happened("apply", one)
    except SchedproofError as error:
        # A pod that its test has deleted meanwhile, say. The test's own outcome is what counts.
        progress.line(f"  the mutant of the world ended: {error.message.expected}")
