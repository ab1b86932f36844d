"""From a bind to the wait's return: ours, kubectl wait, kr8s, pytest-kubernetes and a poll, on the same sequence.

In each round every way of waiting gets a pod of its own; all waits begin, then the pods are bound one after the other
(each only when the wait before it has returned), in an order that rotates from round to round: drift and neighbours hit
all alike. The time of a bind is the audit log's, of the answer 201 to the binding request; the time of the return is
taken in the waiter. Both are this machine's clock.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from typing import Any

from bench import figures
from bench.busy import busy
from bench.environment import Environment, apart
from schedproof.api import Api, Object
from schedproof.binder.audit import AuditLog
from schedproof.cluster.facts import Facts
from schedproof.data import CHECKOUT
from schedproof.errors import HarnessError
from schedproof.pods import Pods

WAYS = ("ours", "kr8s", "kubectl", "pytest_kubernetes", "poll")
TITLES = {
    "ours": "schedproof",
    "kr8s": "kr8s",
    "kubectl": "kubectl wait",
    "pytest_kubernetes": "pytest-kubernetes",
    "poll": "poll, 1 s",
}
SETTLE = {"idle": 1.0, "busy": 2.5}
"""Seconds from the begin of the waits to the first bind: every kubectl has its watch open by then."""

ANSWER = 120.0
"""Seconds within which a wait has to return."""

NOWHERE = "schedproof-bench-nowhere"
"""The node to bind to does not exist, so that no kubelet starts a container in the middle of a measurement."""

SEED = 20261201


class Waiter:
    """One way of waiting: a process that is told a pod and answers when its wait has returned."""

    def __init__(self, way: str, process: subprocess.Popen[str]) -> None:
        self.way, self._process = way, process

    def tell(self, line: str) -> None:
        """Begin to wait for ``NAMESPACE POD``."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Return the next answer.

        Raises:
            HarnessError: The waiter has ended, or its wait does not return.
        """
        pipe = self._process.stdout
        assert pipe is not None
        text = pipe.readline() if select.select([pipe], [], [], ANSWER)[0] else ""
        if not text:
            raise HarnessError(
                f"the waiter {self.way} answers within {ANSWER:.0f} s",
                seen=f"it ended with {self._process.poll()}" if self._process.poll() is not None else "it is silent",
                cure=f"run it by hand: python -m bench.waiters.{self.way} KUBECONFIG",
            )
        answer: dict[str, Any] = json.loads(text)
        return answer


@contextmanager
def waiters(facts: Facts, environment: Environment) -> Iterator[list[Waiter]]:
    """Start one waiter a way; ours and the poll in our interpreter, the others in theirs."""
    assert facts.kind is not None
    with ExitStack() as stack:
        _, variables = stack.enter_context(apart(facts.kind, facts.kubectl))
        started = []
        for way in WAYS:
            python = environment.python if way in ("kr8s", "pytest_kubernetes") else sys.executable
            more = [str(facts.kubectl)] if way == "kubectl" else []
            process = subprocess.Popen(
                [python, "-m", f"bench.waiters.{way}", str(facts.kubeconfig), *more],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=CHECKOUT,
                env={**os.environ, **variables},
            )
            stack.callback(_end, process)
            started.append(Waiter(way, process))
        for waiter in started:
            waiter.answer()
        yield started


def measure(facts: Facts, environment: Environment, rounds: int) -> dict[str, Any]:
    """Return the milliseconds from bind to return, by load and way.

    Raises:
        HarnessError: The cluster has no audit log, or a waiter fails.
    """
    if not facts.audit:
        raise HarnessError("the time of a bind is in the audit log", seen=f"{facts.name} has none")
    api = Api(facts.kubeconfig)
    namespace = f"schedproof-bench-{os.urandom(3).hex()}"
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    pods, audit = Pods(api, namespace), AuditLog(facts)
    found: dict[str, Any] = {}
    try:
        with waiters(facts, environment) as ready:
            _rounds(pods, facts, ready, 1, SETTLE["busy"])  # the first of each is no measurement
            for load in ("idle", "busy"):
                with busy() if load == "busy" else contextlib.nullcontext():
                    returned = _rounds(pods, facts, ready, rounds, SETTLE[load])
                audit.catch_up()
                found[load] = {way: _latencies(audit, returned[way]) for way in WAYS}
    finally:
        api.delete("Namespace", namespace)
    return {"unit": "ms", "rounds": rounds, "ways": list(WAYS), **found}


def show(found: dict[str, Any]) -> str:
    """Return the figures as a table."""
    rows = []
    for load in ("idle", "busy"):
        for way in WAYS:
            one = found[load][way]
            after, request = one["after_answer"], one["after_request"]
            rows.append([
                f"{TITLES[way]} ({load})", f"{after['p50']:.1f}", f"{after['p99']:.1f}",
                f"{request['p50']:.1f}", f"{request['p99']:.1f}",
            ])  # fmt: skip
    heading = [
        f"ms from a bind to the wait's return, {found['rounds']} rounds",
        "p50",
        "p99",
        "request p50",
        "request p99",
    ]
    return figures.table(heading, rows)


def _rounds(
    pods: Pods, facts: Facts, ready: Sequence[Waiter], rounds: int, settle: float
) -> dict[str, list[tuple[str, int]]]:
    """Return for each way the uids of its pods and when its wait returned, in nanoseconds since the epoch."""
    api = Api(facts.kubeconfig)
    chance = random.Random(SEED)  # noqa: S311 - for the phase of a poll, not for secrets
    returned: dict[str, list[tuple[str, int]]] = {waiter.way: [] for waiter in ready}
    for number in range(rounds):
        made = {waiter.way: pods.apply(_pod(waiter.way, number, facts.pause_image)) for waiter in ready}
        for waiter in ready:
            waiter.tell(f"{pods.namespace} {made[waiter.way].name}")
        time.sleep(settle)
        turn = number % len(ready)
        for waiter in [*ready[turn:], *ready[:turn]]:
            if waiter.way == "poll":
                time.sleep(chance.random())  # a bind comes at any time between two looks
            pod = made[waiter.way]
            api.bind(pod.made, NOWHERE)
            returned[waiter.way].append((pod.uid, int(waiter.answer()["returned"])))
        for pod in made.values():
            pod.delete(grace=0)
    return returned


def _latencies(audit: AuditLog, returned: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return both latencies of one way: since the request arrived and since it was answered."""
    after_answer, after_request = [], []
    for uid, at in returned:
        accepted = [binding for binding in audit.bindings(uid) if binding.accepted]
        if not accepted:
            raise HarnessError("each bind is in the audit log", seen=f"no accepted binding of pod {uid}")
        after_answer.append(_milliseconds(accepted[0].time, at))
        after_request.append(_milliseconds(accepted[0].received, at))
    return {
        "after_answer": figures.summary(after_answer),
        "after_request": figures.summary(after_request),
        "values_after_answer": after_answer,
    }


def _milliseconds(since: datetime, nanoseconds: int) -> float:
    return round((nanoseconds / 1e9 - since.timestamp()) * 1000, 3)


def _pod(way: str, number: int, image: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{way.replace('_', '-')}-{number}-{os.urandom(2).hex()}"},
        "spec": {
            "schedulerName": "schedproof-bench-by-hand",
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "pause", "image": image, "imagePullPolicy": "Never"}],
        },
    }


def _end(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):
            if pipe is not None:
                pipe.close()
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
