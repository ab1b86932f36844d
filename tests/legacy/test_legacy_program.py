"""A line given to the image: how it is run, what is made of its end, and which messages come of it."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.errors import ClaimFailed, ImageError, UsageError
from schedproof.legacy import expectations
from schedproof.legacy.assertions import assert_configured, assert_flags, assert_refused, assert_serves
from schedproof.legacy.program import FOLDER, Line, Outcome, run

ENGINE = """
place = next((word for word in argv if word.startswith("type=bind")), "")
if place:
    folder = place.split("source=")[1].split(",")[0]
    print("files: " + str(sorted(os.listdir(folder))))
print("unknown flag: --port", file=sys.stderr)
sys.exit(1)
"""


class Facts:
    """What is asked of the facts here."""

    scheduler_image, scheduler_command, scheduler_version = "mine:1", "/bin/kube-scheduler", "v1.37.2"


def outcome(*, code: int = 0, said: str = "", printed: str = "") -> Outcome:
    return Outcome(Line(["--old"]), "v1.37.2", code, said, printed)


def test_line_is_given_to_the_image_without_a_network_and_with_its_files(fake: Any) -> None:
    engine = fake("docker", ENGINE)
    facts: Any = Facts
    found = run(facts, Line(["--port=1"], {"a.yaml": {"kind": "A"}, "b": "text"}))
    (argv,) = engine.calls
    assert argv[argv.index("--network") + 1] == "none"
    assert argv[argv.index("--entrypoint") + 1] == "/bin/kube-scheduler"
    assert argv[-3:] == ["mine:1", "--port=1", "--write-config-to=/dev/stdout"]
    assert (found.code, found.printed.strip()) == (1, "files: ['a.yaml', 'b']")
    assert found.cause == "this kube-scheduler has no flag --port; today it is --secure-port"


def test_program_that_does_not_end_is_removed_and_told_as_trouble_of_the_image(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = fake("docker", "import time\nif argv[0] == 'run':\n    time.sleep(30)")
    monkeypatch.setattr("schedproof.legacy.program.SECONDS", 1.0)
    facts: Any = Facts
    with pytest.raises(ImageError, match="ends when it is given: --x"):
        run(facts, Line(["--x"]))
    assert engine.calls[-1][:2] == ["rm", "--force"]


def test_refusal_is_quoted_and_its_cause_named() -> None:
    said = 'run.go:72] "command failed" err="no kind \\"K\\" is registered"'
    assert_refused(outcome(code=1, said=said), saying='no kind "K" is registered', named="it exits")
    with pytest.raises(ClaimFailed, match="exits at `--old`") as error:
        assert_refused(outcome(printed="profiles: [{schedulerName: mine}]"), saying="unknown flag")
    assert "it accepts the line; it would run and serve mine" in str(error.value)
    with pytest.raises(ClaimFailed, match="says: unknown flag"):
        assert_refused(outcome(code=1, said="Error: something else"), saying="unknown flag")
    with pytest.raises(ClaimFailed, match="the harness names the cause"):
        assert_refused(outcome(code=1, said="Error: odd"), saying="odd", named="today it is")


def test_configuration_that_it_would_run_with_is_read() -> None:
    runs = outcome(printed="leaderElection: {resourceName: mine}\nprofiles:\n- schedulerName: a\n- schedulerName: b\n")
    assert_serves(runs, ["a", "b"])
    assert_configured(runs, "leaderElection resourceName", "mine")
    assert_configured(runs, "profiles 1 schedulerName", "b")
    for wrong in ("profiles 7 schedulerName", "nothing here", "leaderElection resourceName x"):
        with pytest.raises(ClaimFailed, match="it is None"):
            assert_configured(runs, wrong, "b")
    with pytest.raises(ClaimFailed, match="it would run and serve a, b"):
        assert_serves(runs, ["a"])
    with pytest.raises(ClaimFailed, match="it exits with 1: odd"):
        assert_serves(outcome(code=1, said="Error: odd".removeprefix("Error: ")), ["a"])
    assert outcome(printed="a: b: c").configuration == {}


def test_flags_are_read_from_the_reference() -> None:
    reference = outcome(printed="      --config string   The path\n  -h, --help\n      --version version[=true]\n")
    assert_flags(reference, known=["--config", "--version"], gone=["--port"])
    with pytest.raises(ClaimFailed, match="it has no --port; it still has --config"):
        assert_flags(reference, known=["--port"], gone=["--config"])


def test_table_answers_by_version_and_says_where_it_begins() -> None:
    old = expectations.Old("x", Line(["--x"]), {"1.9": "first", "1.22": "second"})
    assert [old.answer(version) for version in ("v1.9.0", "v1.21.3", "v1.22.0", "v1.37.2")] == [
        "first", "first", "second", "second",
    ]  # fmt: skip
    with pytest.raises(UsageError, match="the table of old lines knows"):
        old.answer("v1.8.1")


def test_every_old_flag_has_a_line_of_today_whose_files_are_where_its_arguments_say() -> None:
    for old in (*expectations.FLAGS, *expectations.VERSIONS):
        assert old.today is not None
        named = [word.partition("=")[2] for word in old.today.args if FOLDER in word]
        assert [path for path in named if path.removeprefix(f"{FOLDER}/") not in old.today.files] == []
