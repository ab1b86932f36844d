"""Percentiles, covered time, tables, and the shape of the JSON."""

from __future__ import annotations

import json

import pytest

from bench import costs, figures


def test_percentile_is_a_value_that_was_seen() -> None:
    values = [float(number) for number in range(1, 41)]

    assert figures.percentile(values, 50) == 20.0
    assert figures.percentile(values, 99) == 40.0
    assert figures.percentile([7.0], 50) == 7.0


def test_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no values"):
        figures.percentile([], 50)


def test_summary_does_not_depend_on_the_order() -> None:
    assert figures.summary([3.0, -1.0, 2.0]) == {"rounds": 3, "min": -1.0, "p50": 2.0, "p99": 3.0, "max": 3.0}


def test_overlapping_intervals_count_once() -> None:
    assert figures.union([(5.0, 6.0), (0.0, 2.0), (1.0, 3.0), (1.5, 1.8)]) == 4.0
    assert figures.union([]) == 0.0


def test_result_file_carries_the_machine() -> None:
    path = figures.write("latency", {"cpu": "a cpu"}, {"rounds": 2})

    content = json.loads(path.read_text())
    assert path.parent.name == "bench"
    assert (content["machine"]["cpu"], content["figures"]["rounds"]) == ("a cpu", 2)
    assert content["schema_version"] == figures.SCHEMA


def test_table_puts_numbers_to_the_right() -> None:
    assert figures.table(["what", "ms"], [["kubectl wait", "6.0"], ["ours", "10.5"]]) == (
        "what            ms\nkubectl wait   6.0\nours          10.5"
    )


def test_steps_are_read_from_the_progress_lines_with_begin_and_end() -> None:
    heard = [
        (10.0, "> kind cluster x"),
        (31.5, "+ kind cluster x (done, 21.5 s)"),
        (40.0, "! loading an image (failed, 3.0 s)"),
        (41.0, "  node image: passed over pull (no network)"),
    ]

    assert costs.steps(heard) == [(10.0, 31.5), (37.0, 40.0)]


def test_waiting_for_nothing_is_what_no_step_and_no_claim_covers_and_what_workers_idled() -> None:
    steps = [(1.0, 11.0), (20.0, 21.0)]
    claims = [(11.0, 19.0), (11.0, 15.0)]

    between, idle = costs.waiting_for_nothing(23.0, steps, claims, workers=2)

    assert between == pytest.approx(23.0 - 10.0 - 8.0 - 1.0)
    assert idle == pytest.approx(8.0 - 12.0 / 2)


def test_run_without_a_claim_idled_no_worker() -> None:
    assert costs.waiting_for_nothing(5.0, [(0.0, 2.0)], [], workers=4) == (3.0, 0.0)
