"""Read a scheduler's /metrics text, as far as claims need it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SAMPLE = re.compile(r"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)(?:\s+-?\d+)?$")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class Sample:
    """One line of the text format: a metric with its labels and value."""

    name: str
    labels: dict[str, str]
    value: float


def samples(text: str, name: str) -> Iterator[Sample]:
    """Yield the samples of one metric from Prometheus' text format; lines that are none are passed over."""
    for line in text.splitlines():
        found = _SAMPLE.match(line) if line.startswith(name) else None
        if found and found["name"] == name:
            labels = {key: _unescaped(value) for key, value in _LABEL.findall(found["labels"] or "")}
            yield Sample(name, labels, float(found["value"]))


def attempts(text: str) -> dict[tuple[str, str], int]:
    """Return ``scheduler_schedule_attempts_total`` as (profile, result) -> count.

    Results are ``scheduled``, ``unschedulable`` and ``error``.
    """
    return {
        (sample.labels.get("profile", ""), sample.labels.get("result", "")): int(sample.value)
        for sample in samples(text, "scheduler_schedule_attempts_total")
    }


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), value)
