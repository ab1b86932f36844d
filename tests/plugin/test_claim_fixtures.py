"""What a claim holds in its hands, with an API that is made of nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from fixtures import names

if TYPE_CHECKING:
    from tests.plugin.conftest import Project


def test_claim_in_twelve_lines(project: Project) -> None:
    project.file(
        "test_mine.py",
        '''"""My scheduler, my claim."""

import pytest


@pytest.mark.claim("small-pod-goes-to-w1")
def test_small_pod_goes_to_w1(manifests, pods):
    """A small pod goes to w1."""
    pod = pods.apply(manifests.pod("pod3", schedulerName="mine"))

    assert pod.scheduler == "mine"
    assert pod.name == "annotation-second-scheduler"
''',
    )
    assert project.run().ret == 0
    assert project.outcomes == {"small-pod-goes-to-w1": "proved"}
    assert project.diary == ["made", "create Namespace", "create Pod", "delete Namespace", "removed"]


def test_manifests_get_namespace_image_and_fields(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one(manifests, namespace):\n'
        '    pod = manifests.pod("pod3", name="other", schedulerName="s", priority=None)\n'
        '    assert pod["metadata"] == {**pod["metadata"], "name": "other", "namespace": namespace}\n'
        '    assert pod["spec"]["schedulerName"] == "s"\n'
        '    assert pod["spec"]["containers"][0]["image"] == "pause:9"\n'
        '    two = manifests.workload("deployment", name="two", schedulerName="s")\n'
        '    assert two["spec"]["selector"]["matchLabels"] == two["spec"]["template"]["metadata"]["labels"]\n'
        '    assert "two" in two["spec"]["selector"]["matchLabels"].values()\n'
        '    assert two["spec"]["template"]["spec"]["schedulerName"] == "s"\n'
        '    first, second = manifests.scheduler(), manifests.scheduler()\n'
        '    assert first[-1]["metadata"]["name"] != second[-1]["metadata"]["name"]\n'
        '    assert "under-test:1" in str(first)\n'
    )  # fmt: skip
    ran = project.run()
    assert project.outcomes == {"one": "proved"}, ran.stdout.str()


def test_manifest_beside_the_claim_is_found_and_a_wrong_one_named(project: Project) -> None:
    project.file("claims/mine.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: mine}\nspec: {containers: []}\n")
    project.file("claims/wrong.yaml", "apiVersion: v1\nkind: Pod\n  name: mine\n")
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one(manifests):\n'
        '    assert manifests.pod("mine.yaml")["metadata"]["name"] == "mine"\n'
        '@pytest.mark.claim("two")\ndef test_two(manifests):\n    manifests.pod("wrong.yaml")\n',
        "claims/test_claims.py",
    )
    ran = project.run()
    assert project.outcomes == {"one": "proved", "two": "harness"}
    ran.stdout.fnmatch_lines(["expected:     *wrong.yaml, line 3: valid YAML"])


def test_broken_invariant_makes_the_claim_false(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from schedproof.binder import invariants
    from schedproof.errors import ClaimFailed

    def check(*_: object, **__: object) -> None:
        raise ClaimFailed("no pod is bound twice", seen="pod3 was")

    monkeypatch.setattr(invariants, "check", check)
    project.claims('@pytest.mark.claim("one")\ndef test_one(api):\n    pass\n')
    assert project.run().ret == 1
    assert project.outcomes == {"one": "false"}
    assert "pod3 was" in project.results["results"][0]["message"]


@pytest.mark.parametrize("fault", [None, OSError("disk full"), KeyError("x")])
def test_evidence_is_named_in_the_message_and_its_fault_never_hides_the_failure(
    project: Project, monkeypatch: pytest.MonkeyPatch, fault: Exception | None
) -> None:
    import importlib

    collecting = importlib.import_module("schedproof.evidence.collect")

    def collect(claim_id: str, *_: object) -> object:
        if fault is not None:
            raise fault
        from fake_prepare import note  # type: ignore[import-not-found]

        note("evidence")
        return project.path / "artifacts" / "evidence" / claim_id

    monkeypatch.setattr(collecting, "collect", collect)
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one(namespace):\n    raise ClaimFailed("pod3 is bound", seen="Pending")\n'
    )
    ran = project.run()
    assert ran.ret == 1
    ran.stdout.fnmatch_lines(["expected:     pod3 is bound", "seen:         Pending", "evidence:     *"])
    if fault is None:
        assert project.results["results"][0]["evidence"] == "artifacts/evidence/one"
        assert project.diary.index("evidence") < project.diary.index("delete Namespace")


@pytest.mark.parametrize("name", ["test_ü[x/y]", "", "9-lives", "A" * 200, "-.-", "claim one"])
def test_names_are_valid_labels_and_never_the_same(name: str) -> None:
    first, second = names.unique(name), names.unique(name)
    assert first != second
    assert re.fullmatch(r"[a-z][a-z0-9-]*[a-z0-9]", first)
    assert len(first) <= names.LABEL - len("-config")
