"""The YAML that the rivals apply: the documents' own, whole or broken by our mutants; and their tests."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

from bench import contenders, inputs
from bench.inputs import Images
from schedproof.api import Object
from schedproof.data import CHECKOUT
from schedproof.mutants import Mutant

IMAGES = Images("some/scheduler:1", "/bin/a-scheduler", "some/pause:3")


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)


def objects(path: Path) -> list[Object]:
    return list(yaml.safe_load_all(path.read_text()))


def test_every_contender_gets_the_same_images(tmp_path: Path) -> None:
    folder = inputs.write(tmp_path / "yaml", IMAGES)

    (pod3,) = objects(folder / "pod3.yaml")
    assert pod3["spec"]["schedulerName"] == "my-scheduler"
    assert pod3["spec"]["containers"][0]["image"] == "some/pause:3"
    deployment = next(each for each in objects(folder / "my-scheduler.yaml") if each["kind"] == "Deployment")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "some/scheduler:1"
    assert container["command"][0] == "/bin/a-scheduler"


def _mutant(broken: str, function: object) -> Mutant:
    return Mutant("m", "pods-first", broken, "fault", "expect", False, function, "here")  # type: ignore[arg-type]  # noqa: FBT003


def test_mutant_breaks_its_input_and_nothing_else(tmp_path: Path) -> None:
    whole = inputs.write(tmp_path / "whole", IMAGES)

    broken = inputs.write(tmp_path / "broken", IMAGES, _mutant("pod1", lambda pod: pod["spec"].update(nodeName="old")))

    assert objects(broken / "pod1.yaml")[0]["spec"]["nodeName"] == "old"
    for name in ("pod2.yaml", "pod3.yaml", "my-scheduler.yaml"):
        assert (broken / name).read_text() == (whole / name).read_text()


def test_mutant_may_return_other_objects_in_their_stead(tmp_path: Path) -> None:
    mutant = _mutant("scheduler", lambda bundle: [each for each in bundle if each["kind"] != "RoleBinding"])

    broken = inputs.write(tmp_path / "broken", IMAGES, mutant)

    kinds = [each["kind"] for each in objects(broken / "my-scheduler.yaml")]
    assert "Deployment" in kinds
    assert "RoleBinding" not in kinds


def test_every_mutant_of_a_core_claim_can_be_written(tmp_path: Path) -> None:
    usable = [mutant for mutant in inputs.core_mutants() if inputs.expressible(mutant)]
    assert {mutant.claim for mutant in usable} == set(inputs.CORE)

    for mutant in usable:
        if mutant.input != "world":
            folder = inputs.write(tmp_path / f"{mutant.claim}-{mutant.name}", IMAGES, mutant)
            assert (folder / "my-scheduler.yaml").is_file()


def test_core_claims_are_claims_of_the_suite() -> None:
    assert [claim.id for claim in inputs.core_claims()] == list(inputs.CORE)


@pytest.mark.parametrize("rival", contenders.RIVALS)
def test_rivals_have_one_test_for_each_core_claim(rival: str) -> None:
    tree = ast.parse((CHECKOUT / "bench" / "rivals" / rival / "test_documents.py").read_text())

    tests = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    assert tests == ["test_" + claim.replace("-", "_") for claim in inputs.CORE]
