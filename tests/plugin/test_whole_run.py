"""One cluster a run: made once, removed once, whatever happens; silent when there is no claim."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.plugin.conftest import Project

THREE = "".join(
    f'@pytest.mark.claim("c{number}")\ndef test_{number}(facts):\n    assert facts.workers == ("w1", "w2")\n'
    for number in range(3)
)


def test_four_workers_share_one_cluster_that_the_controller_makes_and_removes(project: Project) -> None:
    project.claims(THREE)
    ran = project.run_apart("-n", "4", "--dist", "loadgroup")
    assert ran.ret == 0
    assert project.diary == ["made", "removed"]
    assert project.outcomes == {"c0": "proved", "c1": "proved", "c2": "proved"}
    assert project.results["workers"] == 4


def test_categories_travel_from_the_workers(project: Project) -> None:
    project.claims(
        '@pytest.mark.claim("one")\ndef test_one():\n    {}["x"]\n'
        '@pytest.mark.claim("two")\n@pytest.mark.serial\ndef test_two():\n    raise ClaimFailed("pod3 is bound")\n'
        '@pytest.mark.claim("three")\ndef test_three():\n    pytest.skip("not here")\n'
        '@pytest.mark.claim("four")\ndef test_four():\n    import os; os._exit(9)\n'
    )
    ran = project.run_apart("-n", "2", "--dist", "loadgroup")
    assert ran.ret == 1
    assert project.outcomes == {"one": "harness", "two": "false", "three": "skipped", "four": "harness"}
    assert project.diary == ["made", "removed"]
    ran.stdout.fnmatch_lines(["false     two  *", "*_ false: two _*"])


def test_one_line_for_each_claim_when_it_ends_and_no_dots(project: Project) -> None:
    project.claims(THREE)
    ran = project.run()
    ran.stdout.re_match_lines_random([rf"proved    c{number} +0\.\d s$" for number in range(3)])
    ran.stdout.no_fnmatch_line("*test_claims.py*")
    ran.stdout.no_fnmatch_line("*100%?*")


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_nothing_happens_without_claims(project: Project, arguments: tuple[str, ...]) -> None:
    project.file("test_plain.py", "def test_plain(): pass\n")
    ran = project.run_for(*arguments)
    assert ran.ret == 0
    assert project.diary == []
    assert not (project.path / "artifacts").exists()
    assert "schedproof:" not in ran.stdout.str()
    assert "claims" not in ran.stdout.str().replace(str(project.path), "")


@pytest.mark.parametrize("arguments", [("--collect-only",), ("-k", "nothing_of_this_name")])
def test_no_cluster_is_made_when_no_claim_is_to_run(project: Project, arguments: tuple[str, ...]) -> None:
    project.claims(THREE)
    project.run(*arguments)
    assert project.diary == []


def test_the_plugin_alone_imports_nothing_heavy() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import schedproof_pytest.plugin; "
        "print(*(set(sys.modules) - before))"
    )
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert len(imported) < 30
    assert not {"pydantic", "kubernetes", "rich", "yaml", "tenacity", "filelock"} & set(imported)


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_failed_preparation_is_shown_without_traceback_and_written_down(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("FAKE_FAILS", "harness")
    project.claims(THREE)
    ran = project.run_for(*arguments)
    assert ran.ret == 3
    assert "no space left" in project.results["harness"]
    assert project.results["not_run"] == ["c0", "c1", "c2"]
    ran.stdout.fnmatch_lines(["expected:     kind makes a cluster", "seen:         no space left"])
    assert "Traceback" not in ran.stdout.str() + ran.stderr.str()
    assert "INTERNALERROR" not in ran.stdout.str()


def test_wrong_input_found_while_preparing_ends_with_4(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_FAILS", "usage")
    project.claims(THREE)
    ran = project.run()
    assert ran.ret == 4
    ran.stdout.fnmatch_lines(["*the image exists*"])


def test_failed_removal_turns_a_green_run_into_a_harness_error(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_FAILS", "removal")
    project.claims(THREE)
    ran = project.run()
    assert ran.ret == 3
    assert "one container" in project.results["harness"]
    assert set(project.outcomes.values()) == {"proved"}


@pytest.mark.parametrize("arguments", [("-x",), ("--maxfail=1", "-n", "2")])
def test_stopping_at_the_first_failure_removes_the_cluster_and_ends_with_1(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.claims("".join(
        f'@pytest.mark.claim("c{number}")\ndef test_{number}():\n    assert False\n' for number in range(9)
    ))  # fmt: skip
    ran = project.run_for(*arguments)
    assert ran.ret == 1
    assert project.diary == ["made", "removed"]
    assert project.results["not_run"]


def test_internal_error_of_another_plugin_removes_the_cluster(project: Project) -> None:
    project.claims(THREE)
    hook = "\ndef pytest_runtest_logfinish(nodeid):\n    raise RuntimeError('a plugin of somebody else')\n"
    (project.path / "conftest.py").write_text((project.path / "conftest.py").read_text() + hook)
    ran = project.run()
    assert ran.ret == 3
    assert project.diary == ["made", "removed"]


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_sigterm_during_a_claim_removes_the_cluster_and_ends_with_2(
    project: Project, arguments: tuple[str, ...]
) -> None:
    os.mkfifo(project.path / "begun")
    project.claims(
        "import threading\n"
        '@pytest.mark.claim("one")\ndef test_one():\n'
        "    open('begun', 'w').close()\n    threading.Event().wait(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    (project.path / "begun").read_text()  # returns when the claim has begun
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2, out
    assert project.diary == ["made", "removed"]
    assert project.results["exit_code"] == 2
    assert project.results["not_run"] == ["one"]


@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_file_that_cannot_be_imported_costs_no_cluster(project: Project, arguments: tuple[str, ...]) -> None:
    project.claims(THREE)
    project.file("test_broken.py", "import nothing_of_this_name\n")
    ran = project.run_for(*arguments)
    assert ran.ret != 0
    assert project.diary == []


def test_a_file_that_cannot_be_imported_is_not_green_when_the_others_go_on(project: Project) -> None:
    project.claims(THREE)
    project.file("test_broken.py", "import nothing_of_this_name\n")
    assert project.run("--continue-on-collection-errors").ret == 3
    assert set(project.outcomes.values()) == {"proved"}


def test_options_become_settings(project: Project) -> None:
    project.claims(THREE)
    assert project.run("--keep").ret == 0
    assert project.diary[0] == "made keep"


@pytest.mark.parametrize(("arguments", "swept"), [(["--keep"], ["c1"]), ([], [])])
def test_only_a_kept_cluster_is_swept_before_the_first_claim(
    project: Project, arguments: list[str], swept: list[str]
) -> None:
    project.claims(THREE)
    assert project.run(*arguments).ret == 0
    assert project.swept == swept


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--nodes=2",), "--nodes is one of 1, 3"),
        (("--kubernetes-version=1.37",), "a Kubernetes version such as"),
        (("--scheduler-image=a", "--scheduler-version=v1.36.3"), "at most one scheduler under test"),
        (("--mutants", "--kubeconfig=mine"), "pytest-kind's: a file that it writes"),
        (("--mutants", "--cluster-name=mine"), "leave --cluster-name out"),
        (("--mutants", "--kind-bin=/bin/true"), "a program named kind"),
    ],
)
def test_wrong_option_ends_with_4_before_anything_is_collected(
    project: Project, arguments: tuple[str, ...], words: str
) -> None:
    project.claims(THREE)
    ran = project.run(*arguments)
    assert ran.ret == 4
    assert words in ran.stderr.str()
    assert "Traceback" not in ran.stderr.str()
    assert project.diary == []


def test_wrong_variable_ends_with_4_when_there_are_claims(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODES", "many")
    project.claims(THREE)
    ran = project.run()
    assert ran.ret == 4
    ran.stdout.fnmatch_lines(["*NODES is one of 1, 3*"])


def test_wrong_variable_does_not_concern_a_run_without_claims(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NODES", "many")
    project.file("test_plain.py", "def test_plain(): pass\n")
    assert project.run().ret == 0


def test_pytest_kinds_keep_cluster_means_keep(project: Project) -> None:
    project.claims(THREE)
    project.run("--keep-cluster")
    assert project.diary[0] == "made keep"


def test_kubeconfig_that_is_the_users_own_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    own = project.file("own-kubeconfig", "")
    monkeypatch.setenv("KUBECONFIG", str(own))
    project.claims(THREE)
    ran = project.run(f"--kubeconfig={own}")
    assert ran.ret == 4
    ran.stdout.fnmatch_lines(["*which is your own*"])


@pytest.mark.parametrize("arguments", [(), ("-n", "2", "--dist", "loadgroup")])
def test_a_file_that_cannot_be_read_stops_the_run_before_a_cluster_is_made(
    project: Project, arguments: tuple[str, ...]
) -> None:
    project.claims(THREE, "e2e/documents/test_claims.py")
    project.file("e2e/documents/test_broken.py", "import nothing_of_this_name\n")
    ran = project.run_for("e2e", *arguments)
    assert ran.ret != 0
    assert "nothing_of_this_name" in ran.stdout.str()
    assert project.diary == []


def test_files_of_one_name_in_two_suites_are_two_files(project: Project) -> None:
    for suite in ("documents", "mine"):
        project.claims(
            f'@pytest.mark.claim("{suite}-1")\ndef test_one(facts):\n    pass\n', f"e2e/{suite}/test_claims.py"
        )
    assert project.run("--import-mode=importlib", "e2e").ret == 0
    assert project.outcomes == {"documents-1": "proved", "mine-1": "proved"}
