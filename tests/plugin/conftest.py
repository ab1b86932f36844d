"""A small project with claims, a cluster that is made of nothing, and what its run says."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import schedproof

# pytester takes out of sys.modules what a run in this process imported: what is there before need not be read again.
for _module in ("api", "binder.judge", "binder.invariants", "shapes.deployment", "evidence.collect", "report.junit"):
    importlib.import_module(f"schedproof.{_module}")
for _module in ("fixtures", "held", "inputs", "judging", "namespaces", "run", "terminal", "world"):
    importlib.import_module(f"schedproof_pytest.{_module}")

FAKE_PREPARE = """
import contextlib, os
from pathlib import Path
from schedproof.cluster.facts import Facts
from schedproof.errors import ClusterError, UsageError

FACTS = Facts(
    name="c1", kubeconfig=Path("nowhere"), kind=None, kubectl=Path("kubectl"), kubernetes="v1.37.2",
    node_image="node:1", control_planes=("cp",), workers=("w1", "w2"), pause_image="pause:9",
    scheduler_image="under-test:1", scheduler_image_id="sha256:1", scheduler_version="v1.37.2", audit=False)

def note(text):
    with open("diary.txt", "a") as diary:
        diary.write(text + "\\n")

@contextlib.contextmanager
def prepare(settings):
    if os.environ.get("FAKE_FAILS") == "harness":
        raise ClusterError("kind makes a cluster", seen="no space left", cure="free some")
    if os.environ.get("FAKE_FAILS") == "usage":
        raise UsageError("the image exists", seen="it does not")
    note("made" + (" keep" if settings.keep else ""))
    try:
        yield FACTS
    finally:
        note("removed")
        if os.environ.get("FAKE_FAILS") == "removal":
            raise ClusterError("nothing of the cluster remains", seen="one container")
"""

CONFTEST = """
import sys
import pytest
import fake_prepare, schedproof
sys.modules["schedproof.prepare"] = schedproof.prepare = fake_prepare

class FakeApi:
    asked = []
    def create(self, obj, namespace=""):
        fake_prepare.note("create " + obj["kind"])
        self.asked.append(obj["metadata"]["name"])
        return {**obj, "metadata": {"uid": "1", "namespace": "default", **obj["metadata"]}}
    def delete(self, kind, name, namespace="", **options):
        assert name in self.asked
        fake_prepare.note("delete " + kind)
    def list(self, kind, namespace="", **options):
        made = {"metadata": {"name": "default", "namespace": namespace, "uid": "2"}}
        return ([made] if kind == "ServiceAccount" else []), "1"
    def get(self, kind, name, namespace="", **options):
        return {"spec": {"holderIdentity": "cp_1"}} if kind == "Lease" else None

@pytest.fixture(scope="session")
def _shared_api():
    return FakeApi()
"""


class Project:
    """The project of one self-test."""

    def __init__(self, pytester: pytest.Pytester, swept: list[str]) -> None:
        self.swept = swept
        self.pytester = pytester
        self.path = pytester.path

    def file(self, path: str, text: str) -> Path:
        """Write a file below the project."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def claims(self, text: str, path: str = "test_claims.py") -> Path:
        """Write a file of claims, with the imports that they need."""
        imports = "import pytest\nfrom schedproof.errors import ClaimFailed, HarnessError, WaitTimeout\n"
        return self.file(path, imports + text)

    def run(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess("-p", "no:cacheprovider", *arguments)

    def run_apart(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in a process of its own, as xdist needs it."""
        return self.pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments, timeout=60)

    def run_for(self, *arguments: str) -> pytest.RunResult:
        """Run pytest in a process of its own if it is given ``-n``, else in this one."""
        return self.run_apart(*arguments) if "-n" in arguments else self.run(*arguments)

    @property
    def diary(self) -> list[str]:
        """What was done with the cluster, in order."""
        diary = self.path / "diary.txt"
        return diary.read_text().split("\n")[:-1] if diary.exists() else []

    @property
    def results(self) -> dict[str, Any]:
        """What is in results.json."""
        found: dict[str, Any] = json.loads((self.path / "artifacts" / "results.json").read_text())
        return found

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcome by claim, mutants as ``claim[mutant]``."""
        return {
            one["claim"] + (f"[{one['mutant']}]" if one["mutant"] else ""): one["outcome"]
            for one in self.results["results"]
        }


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose cluster is made of nothing."""
    swept: list[str] = []
    monkeypatch.setattr(schedproof, "prepare", None, raising=False)  # so that what the project puts there is undone
    monkeypatch.setenv("SCHEDPROOF_ARTIFACTS", str(pytester.path / "artifacts"))
    for variable in ("KEEP", "SUITE", "NODES", "PLAN", "WORKERS", "ALLOW_SKIP", "PROVIDERS", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("schedproof_pytest.leftovers.sweep", lambda facts: swept.append(facts.name))
    made = Project(pytester, swept)
    made.file("fake_prepare.py", FAKE_PREPARE)
    made.file("conftest.py", CONFTEST)
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", str(pytester.path))
    return made
