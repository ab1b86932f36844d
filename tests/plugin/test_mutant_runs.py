"""With ``--mutants`` a claim runs as it is and under each mutant, and must notice each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

CLAIM = """
@pytest.mark.claim("pod3-bound")
def test_pod3_is_bound(manifests):
    pod = manifests.pod("pod3", schedulerName="s-1")
    if pod["spec"]["schedulerName"] != "s-1":
        raise ClaimFailed("pod3 is bound", seen="Pending: no scheduler\\n  serves " + pod["spec"]["schedulerName"])
"""

CAUGHT = """
from schedproof.mutants import mutant

@mutant(claim="pod3-bound", input="pod3", fault="N1: a typing error", expect="no scheduler serves *-typo")
def another_name(pod):
    pod["spec"]["schedulerName"] += "-typo"
"""


def _mutants(project: Project, text: str, claims: str = CLAIM) -> pytest.RunResult:
    project.claims(claims, "e2e/documents/test_claims.py")
    project.file("e2e/mutants/documents/claims.py", text)
    return project.run("--mutants", "e2e")


def test_mutant_that_the_claim_notices_is_caught_and_its_twin_proved(project: Project) -> None:
    ran = _mutants(project, CAUGHT)
    assert ran.ret == 0
    assert project.outcomes == {"pod3-bound": "proved", "pod3-bound[another-name]": "caught"}
    assert next(one for one in project.results["results"] if one["mutant"])["fault"] == "N1: a typing error"
    ran.stdout.re_match_lines_random(
        [r"caught    pod3-bound \[another-name\] .*", r"pod3-bound +proved +another-name +0\.\d s  caught"]
    )
    ran.stdout.fnmatch_lines(["*1 of 1 mutants caught, 0 survived*"])
    assert "_ false" not in ran.stdout.str()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("pod['metadata']['labels'] = {}", "the claim was proved all the same"),
        ("pass", "left the input 'pod3' as it was"),
    ],
)
def test_mutant_that_the_claim_does_not_notice_survives(project: Project, body: str, words: str) -> None:
    ran = _mutants(project, CAUGHT.replace('pod["spec"]["schedulerName"] += "-typo"', body))
    assert ran.ret == 1
    assert project.outcomes["pod3-bound[another-name]"] == "survived"
    assert words in ran.stdout.str()


def test_another_sentence_than_the_expected_one_is_no_catch(project: Project) -> None:
    ran = _mutants(project, CAUGHT.replace("no scheduler serves *-typo", "two schedulers serve one name"))
    assert ran.ret == 1
    assert project.outcomes["pod3-bound[another-name]"] == "survived"
    ran.stdout.fnmatch_lines(["expected:     the failure says: two schedulers serve one name"])


def test_input_that_was_never_asked_for_is_no_catch(project: Project) -> None:
    ran = _mutants(project, CAUGHT.replace('input="pod3"', 'input="pod4"'))
    assert ran.ret == 1
    assert project.outcomes["pod3-bound[another-name]"] == "survived"
    assert "never asked for the input 'pod4'; it asked for: pod3" in ran.stdout.str()


def test_mutant_that_cannot_be_applied_is_a_harness_error(project: Project) -> None:
    ran = _mutants(project, CAUGHT.replace('pod["spec"]["schedulerName"]', 'pod["no"]["such"]'))
    assert ran.ret == 3
    assert project.outcomes["pod3-bound[another-name]"] == "harness"


def test_harness_error_under_a_mutant_is_no_catch(project: Project) -> None:
    ran = _mutants(project, CAUGHT, CLAIM.replace("raise ClaimFailed", "raise HarnessError"))
    assert ran.ret == 3
    assert project.outcomes == {"pod3-bound": "proved", "pod3-bound[another-name]": "harness"}


def test_failure_in_the_set_up_can_be_the_expected_one(project: Project) -> None:
    claims = CLAIM.replace("def test_pod3_is_bound(manifests):", "@pytest.fixture\ndef bound(manifests):").replace(
        '@pytest.mark.claim("pod3-bound")\n', ""
    )
    claims += '\n@pytest.mark.claim("pod3-bound")\ndef test_pod3_is_bound(bound):\n    pass\n'
    ran = _mutants(project, CAUGHT, claims)
    assert project.outcomes == {"pod3-bound": "proved", "pod3-bound[another-name]": "caught"}
    assert ran.ret == 0


def test_claim_without_a_mutant_shows_in_the_matrix(project: Project) -> None:
    ran = _mutants(project, CAUGHT, CLAIM + '\n@pytest.mark.claim("bare")\ndef test_bare():\n    pass\n')
    ran.stdout.fnmatch_lines(["bare * proved * no mutant: this claim is not finished"])


def test_mutant_of_the_world_acts_at_its_moment_and_undoes_its_work(project: Project) -> None:
    claims = """
@pytest.mark.claim("alone")
def test_alone(manifests, pods):
    pods.apply(manifests.pod("pod1"))
    from pathlib import Path
    if "somebody else binds no-annotation" in Path("diary.txt").read_text():
        raise ClaimFailed("bound by one", seen="another scheduler tried to bind it too")
"""
    mutants = """
from schedproof.mutants import mutant
import fake_prepare

@mutant(claim="alone", input="world", fault="N5: two schedulers", expect="another scheduler tried to bind it")
def rival(world):
    world.after("apply", lambda pod: fake_prepare.note("somebody else binds " + pod.name))
    yield
    fake_prepare.note("undone in " + world.namespace.split("-")[0])
"""
    ran = _mutants(project, mutants, claims)
    assert project.outcomes == {"alone": "proved", "alone[rival]": "caught"}
    assert ran.ret == 0
    assert project.diary.index("somebody else binds no-annotation") < project.diary.index("undone in alone")


def test_parametrized_claim_has_every_mutant_for_each_parameter(project: Project) -> None:
    claims = CLAIM.replace("def test_pod3_is_bound(manifests)", "def test_pod3_is_bound(manifests, size)").replace(
        "@pytest.mark.claim", '@pytest.mark.parametrize("size", ["small", "large"])\n@pytest.mark.claim'
    )
    _mutants(project, CAUGHT, claims)
    assert project.outcomes == {
        "pod3-bound[small]": "proved",
        "pod3-bound[small][another-name]": "caught",
        "pod3-bound[large]": "proved",
        "pod3-bound[large][another-name]": "caught",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('claim="pod3-bound"', 'claim="pod3-bond"'), "no claim 'pod3-bond'; did you mean 'pod3-bound'?"),
        (('expect="no scheduler serves *-typo"', 'expect=" * "'), "has an empty expect"),
        (('fault="N1: a typing error"', 'fault=""'), "has an empty fault"),
        (('-typo")\ndef', '-typo", renames=True)\ndef'), "1 of 1 mutants merely change a name"),
        (("from schedproof.mutants", "from schedproof.mutant"), "No module named 'schedproof.mutant'"),
        (('pod["spec"]["schedulerName"] +=', "pod["), "SyntaxError"),
    ],
)
def test_wrong_declaration_is_refused_with_file_and_line(project: Project, change: tuple[str, str], words: str) -> None:
    ran = _mutants(project, CAUGHT.replace(*change))
    assert ran.ret == 4
    ran.stdout.re_match_lines([r".*e2e/mutants/documents/claims\.py:\d+: .*"])
    assert words in ran.stdout.str()
    assert project.diary == []


def test_mutants_of_a_serial_claim_run_on_one_worker(project: Project) -> None:
    project.claims("@pytest.mark.serial" + CLAIM, "e2e/documents/test_claims.py")
    more = CAUGHT.replace("def another_name", "def yet_another_name").split("\n", 2)[2]
    project.file("e2e/mutants/documents/claims.py", CAUGHT + more)
    ran = project.run_apart("--mutants", "e2e", "-n", "2", "--dist", "loadgroup", "-v")
    assert ran.ret == 0
    assert project.outcomes == {
        "pod3-bound": "proved",
        "pod3-bound[another-name]": "caught",
        "pod3-bound[yet-another-name]": "caught",
    }
    assert project.diary.count("made") == project.diary.count("removed") == 1
    assert len({line.split("]")[0] for line in ran.outlines if re.search("PROVED|CAUGHT", line)}) == 1
