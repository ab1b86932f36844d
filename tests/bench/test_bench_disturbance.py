"""Mutants of the world beside a rival's test: told of every new pod once, undone at the end; and the intervals."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bench import disturbance, intervals
from fixtures.world import World
from schedproof.cluster.facts import Facts
from schedproof.mutants import Mutant

FACTS = cast("Facts", SimpleNamespace(kubeconfig=Path("a-kubeconfig")))


def mutant(broken: str, function: Any) -> Mutant:
    return Mutant("m", "pods-first", broken, "fault", "expect", renames=False, function=function, where="here")


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid of {name}"}}


@pytest.fixture(autouse=True)
def pods_that_appear(monkeypatch: pytest.MonkeyPatch) -> None:
    class Appearing:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def snapshots(self) -> Iterator[list[dict[str, Any]]]:
            yield []
            yield [pod("a")]
            yield [pod("a"), pod("b")]

    monkeypatch.setattr(disturbance, "Api", lambda _: None)
    monkeypatch.setattr(disturbance, "Following", Appearing)
    monkeypatch.setattr(disturbance, "Pods", lambda *_: SimpleNamespace(get=lambda name: name))


def test_mutant_of_the_world_is_told_of_each_new_pod_once_and_undone_at_the_end() -> None:
    told: list[str] = []
    both = threading.Event()

    def apply(name: Any) -> None:
        told.append(name)
        if len(told) == 2:
            both.set()

    def disturb(world: World) -> Iterator[None]:
        world.after("apply", apply)
        yield
        told.append("undone")

    with disturbance.disturbed(mutant("world", disturb), FACTS):
        assert both.wait(5)

    assert told == ["a", "b", "undone"]


def test_mutant_of_another_input_does_nothing_to_the_cluster() -> None:
    called: list[object] = []

    with disturbance.disturbed(mutant("pod1", called.append), FACTS):
        pass

    assert called == []


def test_intervals_of_every_phase_are_written(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pytester.path / "intervals.json"
    monkeypatch.setenv(intervals.VARIABLE, str(path))
    monkeypatch.setattr(intervals, "_seen", [])
    pytester.makepyfile("def test_one(): pass")

    pytester.runpytest_inprocess("-p", "bench.intervals").assert_outcomes(passed=1)

    seen = json.loads(path.read_text())
    assert len(seen) == 3
    assert all(begin <= end for begin, end in seen)
