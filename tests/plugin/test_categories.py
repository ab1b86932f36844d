"""A claim's verdict comes from the category of its error, and so do message, JUnit and exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

PROVED = '@pytest.mark.claim("good")\ndef test_good(facts):\n    assert facts.name == "c1"\n'


def test_proved_claims_end_with_exit_code_0_and_the_cluster_is_removed(project: Project) -> None:
    project.claims(PROVED)
    ran = project.run()
    assert ran.ret == 0
    assert project.outcomes == {"good": "proved"}
    assert project.diary == ["made", "removed"]


@pytest.mark.parametrize(
    ("statement", "outcome", "code"),
    [
        ('raise ClaimFailed("pod3 is bound", seen="Pending")', "false", 1),
        ('raise WaitTimeout("pod3 is bound in 30 s")', "false", 1),
        ("assert 1 == 2", "false", 1),
        ('pytest.fail("pod3 is on the wrong node")', "false", 1),
        ("with pytest.raises(OSError): pass", "false", 1),
        ("from schedproof.shapes.deployment import Deployment; Scheduler._workload.fget(NOTHING)", "harness", 3),
        ('raise HarnessError("the engine answers", seen="it does not")', "harness", 3),
        ('{}["missing"]', "harness", 3),
        ('pytest.skip("not here")', "skipped", 6),
        ('pytest.xfail("known")', "skipped", 6),
    ],
)
def test_category_decides_about_outcome_and_exit_code(
    project: Project, statement: str, outcome: str, code: int
) -> None:
    nothing = "class NOTHING:\n    objects = ()\n"
    project.claims(f'{nothing}@pytest.mark.claim("one")\ndef test_one():\n    {statement}\n')
    ran = project.run()
    assert project.outcomes == {"one": outcome}
    assert ran.ret == code
    assert project.results["exit_code"] == code


def test_harness_error_in_the_set_up_says_nothing_about_the_claim(project: Project) -> None:
    project.claims(
        "@pytest.fixture\ndef broken():\n    raise KeyError('x')\n"
        '@pytest.mark.claim("one")\ndef test_one(broken):\n    pass\n'
    )
    assert project.run().ret == 3
    assert project.outcomes == {"one": "harness"}


def test_behaviour_failure_in_the_set_up_is_a_false_claim(project: Project) -> None:
    project.claims(
        "@pytest.fixture\ndef scheduler():\n    raise WaitTimeout('the scheduler is ready')\n"
        '@pytest.mark.claim("one")\ndef test_one(scheduler):\n    pass\n'
    )
    assert project.run().ret == 1
    assert project.outcomes == {"one": "false"}


def test_teardown_fault_turns_a_proved_claim_into_a_harness_error(project: Project) -> None:
    project.claims(
        "@pytest.fixture\ndef leaky():\n    yield\n    raise OSError('gone')\n"
        '@pytest.mark.claim("one")\ndef test_one(leaky):\n    pass\n'
    )
    assert project.run().ret == 3
    assert project.outcomes == {"one": "harness"}


def test_a_clean_up_that_takes_too_long_does_not_make_the_claim_false(project: Project) -> None:
    project.claims(
        "@pytest.fixture\ndef slow():\n    yield\n    raise WaitTimeout('no Pod of it is left')\n"
        '@pytest.mark.claim("one")\ndef test_one(slow):\n    pass\n'
    )
    assert project.run().ret == 3
    assert project.outcomes == {"one": "harness"}


def test_a_namespace_that_is_never_ready_says_nothing_about_the_claim(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from schedproof.errors import WaitTimeout

    def never(*_: object, **__: object) -> None:
        raise WaitTimeout("ServiceAccount default exists", seen="there is none")

    monkeypatch.setattr("schedproof_pytest.namespaces.wait_until", never)
    project.claims('@pytest.mark.claim("one")\ndef test_one(namespace):\n    pass\n')
    assert project.run().ret == 3
    assert project.outcomes == {"one": "harness"}


def test_a_claim_whose_body_was_never_run_is_not_proved(project: Project) -> None:
    project.claims(PROVED)
    assert project.run("--setup-only").ret == 3
    assert project.outcomes == {"good": "harness"}


def test_teardown_fault_never_hides_a_false_claim(project: Project) -> None:
    project.claims(
        "@pytest.fixture\ndef leaky():\n    yield\n    raise OSError('gone')\n"
        '@pytest.mark.claim("one")\ndef test_one(leaky):\n    raise ClaimFailed("pod3 is bound")\n'
    )
    assert project.run().ret == 1
    assert "pod3 is bound" in project.results["results"][0]["message"]


def test_a_false_claim_is_worse_news_than_a_harness_error(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one():\n    {}["x"]\n'
        '@pytest.mark.claim("two")\ndef test_two():\n    assert False\n'
    )
    assert project.run().ret == 1


def test_allowed_skip_leaves_the_run_green(project: Project) -> None:
    project.claims(PROVED + '@pytest.mark.claim("one")\ndef test_one():\n    pytest.skip("not here")\n')
    ran = project.run("--allow-skip=one")
    assert ran.ret == 0
    ran.stdout.fnmatch_lines(["skipped:  one: not here", "*1 claims proved*1 skipped (allowed: one)*"])


def test_failure_shows_sentence_and_message_but_no_traceback(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_pod3_is_bound():\n'
        '    raise ClaimFailed("pod3 is bound", seen="Pending", cause="no scheduler serves it", cure="deploy one")\n'
    )
    ran = project.run()
    ran.stdout.fnmatch_lines(
        [
            "*_ false: one _*",
            "pod3 is bound",
            "expected:     pod3 is bound",
            "seen:         Pending",
            "likely cause: no scheduler serves it",
            "what to do:   deploy one",
        ],
        consecutive=True,
    )
    ran.stdout.no_fnmatch_line("*raise ClaimFailed*")


def test_verbose_run_shows_the_traceback_too(project: Project) -> None:
    project.claims('@pytest.mark.claim("one")\ndef test_one():\n    raise ClaimFailed("pod3 is bound")\n')
    project.run("-vv").stdout.fnmatch_lines(["*raise ClaimFailed*"])


def test_plain_assert_shows_its_line_and_values(project: Project) -> None:
    project.claims('@pytest.mark.claim("one")\ndef test_one():\n    node = "w1"\n    assert node == "w2"\n')
    ran = project.run()
    ran.stdout.fnmatch_lines(['expected:     assert node == "w2"', "*'w1' == 'w2'*", "*test_claims.py:6)*"])


def test_a_failed_pytest_fail_shows_the_claims_own_line(project: Project) -> None:
    project.claims('@pytest.mark.claim("one")\ndef test_one():\n    pytest.fail("on the wrong node")\n')
    project.run().stdout.fnmatch_lines(
        ['expected:     pytest.fail("on the wrong node")', "seen:         on the wrong*"]
    )


def test_message_of_any_length_is_cut_to_25_lines_with_its_sentence(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one():\n'
        '    raise ClaimFailed("it is", seen="\\n".join(map(str, range(99))), cure="do this")\n'
    )
    project.run()
    message = project.results["results"][0]["message"]
    assert len(message.splitlines()) == 24


def test_junit_has_a_failure_for_behaviour_and_an_error_for_the_harness(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one", lines=["A-01"])\ndef test_one():\n    {}["x"]\n'
        '@pytest.mark.claim("two")\ndef test_two():\n    raise ClaimFailed("pod3 is bound")\n'
    )
    project.run("--junitxml=pytests-own.xml")
    for file in ("artifacts/junit.xml", "pytests-own.xml"):
        root = ElementTree.parse(project.path / file).getroot()  # noqa: S314 - we wrote it
        cases = {
            next(p.get("value") for p in case.iter("property") if p.get("name") == "claim"): case
            for case in root.iter("testcase")
        }
        assert cases["one"].find("error") is not None, file
        assert cases["one"].find("failure") is None, file
        assert cases["two"].find("failure") is not None, file
        suite = next(root.iter("testsuite"))
        assert (suite.get("failures"), suite.get("errors")) == ("1", "1"), file


def test_other_tests_in_the_same_run_keep_their_own_verdict(project: Project) -> None:
    project.claims(PROVED)
    project.file("test_other.py", "def test_fine(): pass\ndef test_wrong(): assert False\n")
    ran = project.run()
    assert ran.ret == 1
    assert project.outcomes == {"good": "proved"}
    ran.stdout.fnmatch_lines(["*FAILURES*", "*1 failed*1 passed*1 proved*"])
