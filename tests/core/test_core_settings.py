"""Every knob as option and variable: one order of precedence, and refusals that name where the value was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof.errors import UsageError
from schedproof.settings import KNOBS, settings, worker_count

EXAMPLES: dict[str, tuple[str, str]] = {"nodes": ("1", "3"), "bootstrap": ("0", "1"), "workers": ("3", "5")}
"""For knobs that do not take any text: one value for the option, another for the variable."""


def two_values(field: str, tmp_path: Path) -> tuple[str, str]:
    if field in ("scheduler_binary", "scheduler_dockerfile", "existing_kubeconfig"):
        paths = [tmp_path / "one", tmp_path / "two"]
        for path in paths:
            path.touch()
        return str(paths[0]), str(paths[1])
    if field.endswith("_version"):
        return "v1.36.3", "v1.35.4"
    return EXAMPLES.get(field, ("a=b", "c=d"))


def test_nothing_given_means_the_defaults() -> None:
    chosen = settings({}, {})
    assert (chosen.suite, chosen.nodes, chosen.keep, chosen.bootstrap) == ("documents", 3, False, "ask")
    assert (chosen.providers, chosen.allow_skip, chosen.scheduler_version) == ({}, frozenset(), "")


@pytest.mark.parametrize("knob", [knob for knob in KNOBS if not knob.flag], ids=lambda knob: knob.field)
def test_an_option_wins_over_the_variable_and_that_over_the_default(knob: Any, tmp_path: Path) -> None:
    option, variable = two_values(knob.field, tmp_path)
    by_both = getattr(settings({knob.field: option}, {knob.env: variable}), knob.field)
    by_variable = getattr(settings({}, {knob.env: variable}), knob.field)
    assert by_both == getattr(settings({knob.field: option}, {}), knob.field)
    assert by_variable == getattr(settings({knob.field: variable}, {}), knob.field)
    assert len({str(by_both), str(by_variable)}) == 2


@pytest.mark.parametrize("knob", [knob for knob in KNOBS if knob.flag], ids=lambda knob: knob.field)
@pytest.mark.parametrize(
    ("option", "variable", "value"),
    [(True, "0", True), (None, "1", True), (None, "yes", True), (None, "0", False), (None, "", False)],
)
def test_a_flag_is_an_option_without_a_value_or_a_variable_of_1_or_0(
    knob: Any, option: Any, variable: str, *, value: bool
) -> None:
    assert getattr(settings({knob.field: option}, {knob.env: variable}), knob.field) is value


@pytest.mark.parametrize(
    ("options", "variables", "source"),
    [
        ({}, {"KEEP": "perhaps"}, "KEEP=perhaps"),
        ({}, {"NODES": "2"}, "NODES=2"),
        ({"nodes": "2"}, {}, "--nodes=2"),
        ({}, {"WORKERS": "0"}, "WORKERS=0"),
        ({}, {"BOOTSTRAP": "2"}, "BOOTSTRAP=2"),
        ({}, {"SCHEDULER_VERSION": "1.37.2"}, "SCHEDULER_VERSION=1.37.2"),
        ({"kubernetes_version": "v1.37"}, {}, "--kubernetes-version=v1.37"),
        ({}, {"PROVIDERS": "kind"}, "PROVIDERS=kind"),
        ({}, {"PROVIDERS": "kind="}, "PROVIDERS=kind="),
        ({}, {"SCHEDULER_BINARY": "no/such file"}, "SCHEDULER_BINARY=no/such file"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused_where_it_was_given(
    options: dict[str, str], variables: dict[str, str], source: str
) -> None:
    with pytest.raises(UsageError) as refused:
        settings(options, variables)
    assert refused.value.message.seen == source
    assert refused.value.message.cure


def test_two_schedulers_under_test_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"SCHEDULER_VERSION=v1\.36\.3 and SCHEDULER_IMAGE=mine:1"):
        settings({"scheduler_image": "mine:1"}, {"SCHEDULER_VERSION": "v1.36.3"})


def test_a_file_with_blanks_quotes_and_other_letters_in_its_name_is_taken(tmp_path: Path) -> None:
    odd = tmp_path / 'it\'s my "scheduler" $(x) Ü'
    odd.touch()
    assert settings({}, {"SCHEDULER_BINARY": str(odd)}).scheduler_binary == str(odd)


def test_lists_are_read_with_blanks_and_empty_parts() -> None:
    chosen = settings({}, {"PROVIDERS": " kind=release , node-image=build,", "ALLOW_SKIP": "a, b,,"})
    assert chosen.providers == {"kind": "release", "node-image": "build"}
    assert chosen.allow_skip == {"a", "b"}


@pytest.mark.parametrize(("cpus", "count"), [(None, 2), (1, 2), (2, 4), (64, 8)])
def test_claims_side_by_side_follow_the_processors_within_bounds(
    cpus: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cpus)
    assert worker_count(settings({}, {})) == count
    assert worker_count(settings({}, {"WORKERS": "11"})) == 11
