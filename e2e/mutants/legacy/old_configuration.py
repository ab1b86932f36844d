"""Mutants of test_old_configuration.py: the file in its present-day form, or in its place."""

from __future__ import annotations

from schedproof.legacy import expectations
from schedproof.legacy.expectations import CONFIG, KUBECONFIG
from schedproof.legacy.program import NOWHERE, Line
from schedproof.mutants import mutant


@mutant(
    claim="removed-configuration-version",
    input="line",
    fault="C1 undone: the configuration is of the version that is served",
    expect="exits at * it accepts the line; it would run and serve my-scheduler",
)
def served_version(line: Line) -> None:
    line.files[CONFIG]["apiVersion"] = expectations.SERVED


@mutant(
    claim="removed-configuration-version",
    input="line",
    fault="a typing error in the kind: the program exits as well, but not for the version",
    expect="exits at * exit code 1: no kind * KubeSchedulerConfig* is registered",
    renames=True,
)
def another_kind(line: Line) -> None:
    line.files[CONFIG]["kind"] = "KubeSchedulerConfig"


@mutant(
    claim="configuration-without-kind",
    input="line",
    fault="apiVersion and kind are put in front of the document's fragment",
    expect="exits at * it accepts the line; it would run and serve default-scheduler",
)
def completed(line: Line) -> None:
    line.files[CONFIG] |= {"apiVersion": expectations.SERVED, "kind": "KubeSchedulerConfiguration"}
    line.files[CONFIG]["clientConnection"] = {"kubeconfig": f"/etc/kubernetes/{KUBECONFIG}"}
    line.files[KUBECONFIG] = NOWHERE


@mutant(
    claim="configuration-without-profile",
    input="line",
    fault="C4 undone: the profile has a name of its own",
    expect="serves default-scheduler * it would run and serve my-scheduler",
    renames=True,
)
def named(line: Line) -> None:
    line.files[CONFIG]["profiles"] = [{"schedulerName": "my-scheduler"}]


@mutant(
    claim="configuration-without-profile",
    input="line",
    fault="C5: two profiles without a name",
    expect="serves default-scheduler * it exits with 1: * Duplicate value",
)
def two_without_a_name(line: Line) -> None:
    line.files[CONFIG]["profiles"] = [{"schedulerName": "default-scheduler"}, {"schedulerName": "default-scheduler"}]


@mutant(
    claim="configuration-not-mounted",
    input="line",
    fault="the file is mounted after all",
    expect="exits at * it accepts the line; it would run and serve default-scheduler",
)
def mounted(line: Line) -> None:
    line.files |= expectations.configured({}).files


@mutant(
    claim="kubeconfig-path-of-the-document",
    input="line",
    fault="there is a folder scheduler with a file conf in it, as the path says",
    expect="exits at * it accepts the line; it would run and serve default-scheduler",
)
def file_at_that_path(line: Line) -> None:
    line.files["scheduler/conf"] = NOWHERE


@mutant(
    claim="kubeconfig-beside-configuration",
    input="line",
    fault="C3: the configuration has no clientConnection, and the flag beside it does not count",
    expect="runs with clientConnection.kubeconfig * it exits with 1: * it knows no API server: with --config the flag",
)
def without_client_connection(line: Line) -> None:
    del line.files[CONFIG]["clientConnection"]
    line.args[-1] = f"--kubeconfig=/etc/kubernetes/{KUBECONFIG}"
