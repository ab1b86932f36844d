"""Claims marked ``serial`` run at the end, one at a time, with nothing beside them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CLAIMS = """
import time
import pytest

def span(name):
    with open("spans.txt", "a") as file:
        file.write(f"{name} begins\\n")
    time.sleep(0.05)  # long enough that claims which may meet do meet
    with open("spans.txt", "a") as file:
        file.write(f"{name} ends\\n")
"""

SHARED = '@pytest.mark.claim("shared-{0}")\ndef test_shared_{0}(api):\n    span("shared")\n'
SERIAL = '@pytest.mark.serial\n@pytest.mark.claim("serial-{0}")\ndef test_serial_{0}(api):\n    span("serial")\n'


@pytest.mark.parametrize(("shared", "serial"), [(7, 3), (7, 1), (2, 2), (3, 1), (1, 2), (0, 2), (0, 1), (4, 0), (1, 1)])
def test_serial_claims_run_alone_after_all_others(project: Project, shared: int, serial: int) -> None:
    tests = [SERIAL.format(number) for number in range(serial)] + [SHARED.format(number) for number in range(shared)]
    project.claims("\n".join([CLAIMS, *tests]), "e2e/documents/test_claims.py")

    ran = project.run_apart("e2e", "-n", "3", "--dist", "loadgroup")

    assert ran.ret == 0
    assert list(project.outcomes.values()) == ["proved"] * (shared + serial)
    spans = (project.path / "spans.txt").read_text().splitlines()
    assert spans[2 * shared :] == ["serial begins", "serial ends"] * serial


@pytest.mark.parametrize(("slow", "workers"), [(0, 4), (1, 4), (1, 2), (2, 3)])
def test_the_worker_of_the_serial_claims_may_still_be_busy(project: Project, slow: int, workers: int) -> None:
    tests = [SERIAL.format(number) for number in range(2)] + [SHARED.format(number) for number in range(3)]
    tests[2 + slow] = tests[2 + slow].replace("span(", "time.sleep(0.7); span(")
    project.claims("\n".join([CLAIMS, *tests]), "e2e/documents/test_claims.py")

    assert project.run_apart("e2e", "-n", str(workers), "--dist", "loadgroup").ret == 0

    spans = (project.path / "spans.txt").read_text().splitlines()
    assert spans[6:] == ["serial begins", "serial ends"] * 2


def test_the_claim_that_took_longest_last_time_goes_first(project: Project) -> None:
    tests = [f'@pytest.mark.claim("c-{n}")\ndef test_{n}(api):\n    span("{n}")\n' for n in range(5)]
    project.claims("\n".join([CLAIMS, *tests]), "e2e/documents/test_claims.py")
    assert project.run_apart("e2e", "-n", "2", "--dist", "loadgroup").ret == 0
    last = project.results
    for one in last["results"]:
        one["seconds"] = int(one["claim"][2:])
    project.file("artifacts/results.json", json.dumps(last))
    (project.path / "spans.txt").unlink()

    assert project.run_apart("e2e", "-n", "1", "--dist", "loadgroup").ret == 0

    assert (project.path / "spans.txt").read_text().split()[::4] == ["4", "3", "2", "1", "0"]


def test_serial_claims_run_last_without_workers_too(project: Project) -> None:
    project.claims("\n".join([CLAIMS, SERIAL.format(1), SHARED.format(1)]), "e2e/documents/test_claims.py")
    assert project.run_apart("e2e").ret == 0
    assert (project.path / "spans.txt").read_text().split()[::2] == ["shared", "shared", "serial", "serial"]
