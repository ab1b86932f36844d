"""The text of /metrics, as far as claims read it."""

from __future__ import annotations

from schedproof.deploy.metrics import Sample, attempts, samples

TEXT = """\
# HELP scheduler_schedule_attempts_total [STABLE] Number of attempts to schedule pods
# TYPE scheduler_schedule_attempts_total counter
scheduler_schedule_attempts_total{profile="my-scheduler",result="scheduled"} 12
scheduler_schedule_attempts_total{profile="my-scheduler",result="unschedulable"} 3e+00
scheduler_schedule_attempts_total{profile="other, \\"odd\\" {x}",result="error"} 1 1700000000000
scheduler_schedule_attempts_total_created{profile="my-scheduler"} 99
go_goroutines 104
process_start_time_seconds 1.79e+09
half a line
"""


def test_attempts_are_counted_by_profile_and_result() -> None:
    assert attempts(TEXT) == {
        ("my-scheduler", "scheduled"): 12,
        ("my-scheduler", "unschedulable"): 3,
        ('other, "odd" {x}', "error"): 1,
    }


def test_a_metric_without_labels_is_read() -> None:
    assert list(samples(TEXT, "go_goroutines")) == [Sample("go_goroutines", {}, 104.0)]


def test_an_empty_text_has_no_attempts() -> None:
    assert attempts("") == {}
