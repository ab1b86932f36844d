"""Old configuration files: removed versions, no kind, no profile, a path where nothing is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schedproof.legacy import expectations
from schedproof.legacy.assertions import assert_configured, assert_refused, assert_serves
from schedproof.legacy.expectations import CONFIG, KUBECONFIG
from schedproof.legacy.program import FOLDER, run

if TYPE_CHECKING:
    from fixtures.mutation import Mutation
    from schedproof.cluster.facts import Facts
    from schedproof.legacy.expectations import Old


@pytest.mark.parametrize("old", expectations.VERSIONS, ids=str)
@pytest.mark.claim("removed-configuration-version", lines=["B-10"])
def test_program_exits_at_a_removed_version_of_its_configuration(facts: Facts, mutation: Mutation, old: Old) -> None:
    """The program exits at a configuration of a removed version, and the harness names the one to write (case C1)."""
    outcome = run(facts, mutation.input("line", old.line))

    assert_refused(outcome, saying=old.answer(facts.scheduler_version), named=f"write {expectations.SERVED}")


@pytest.mark.claim("configuration-without-kind", lines=["B-48"])
def test_program_exits_at_a_configuration_of_leader_election_alone(facts: Facts, mutation: Mutation) -> None:
    """The program exits at the document's file that has leader election and neither apiVersion nor kind."""
    old = expectations.WITHOUT_KIND

    outcome = run(facts, mutation.input("line", old.line))

    assert_refused(outcome, saying=old.answer(facts.scheduler_version), named="Object 'Kind' is missing")


@pytest.mark.parametrize("content", [{}, {"profiles": [{}]}], ids=["no-profile", "profile-without-a-name"])
@pytest.mark.claim("configuration-without-profile", lines=["B-48"])
def test_configuration_without_a_profile_serves_the_default_schedulers_name(
    facts: Facts, mutation: Mutation, content: dict[str, object]
) -> None:
    """A configuration without a profile, or with one that has no name, serves default-scheduler: a rival (case C4)."""
    outcome = run(facts, mutation.input("line", expectations.configured(content)))

    assert_serves(outcome, ["default-scheduler"])


@pytest.mark.claim("configuration-not-mounted", lines=["B-27"])
def test_program_exits_when_its_configuration_is_not_mounted(facts: Facts, mutation: Mutation) -> None:
    """The program exits when nothing is mounted at the path that the document's Pod gives it."""
    old = expectations.UNMOUNTED

    outcome = run(facts, mutation.input("line", old.line))

    assert_refused(outcome, saying=old.answer(facts.scheduler_version), named=f"it finds no file {FOLDER}/{CONFIG}")


@pytest.mark.claim("kubeconfig-path-of-the-document", lines=["B-26"])
def test_program_exits_at_the_documents_path_of_a_kubeconfig(facts: Facts, mutation: Mutation) -> None:
    """The program exits at `--kubeconfig=/etc/kubernetes/scheduler/conf`, where no file is."""
    old = expectations.KUBECONFIG_PATH

    outcome = run(facts, mutation.input("line", old.line))

    assert_refused(outcome, saying=old.answer(facts.scheduler_version), named="scheduler/conf")


@pytest.mark.claim("kubeconfig-beside-configuration", lines=["B-26"])
def test_kubeconfig_flag_is_ignored_beside_a_configuration(facts: Facts, mutation: Mutation) -> None:
    """Beside `--config` the flag `--kubeconfig` is ignored, whatever it points at: the file's counts (case C3)."""
    line = expectations.configured({})
    line.args.append(f"--kubeconfig={FOLDER}/scheduler/conf")

    outcome = run(facts, mutation.input("line", line))

    assert_configured(outcome, "clientConnection kubeconfig", f"{FOLDER}/{KUBECONFIG}")
