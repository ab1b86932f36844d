"""Mutants of test_kubectl.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import faults
from schedproof.mutants import mutant


@mutant(
    claim="kubectl-create-pod",
    input="text",
    fault="copied from a page, the file has tabs for blanks",
    expect="does what it says * exit code 1: error: error parsing * cannot start any token",
)
def tabs(text: str) -> str:
    return text.replace("  ", "\t")


@mutant(
    claim="kubectl-create-pod",
    input="pod",
    fault="a field of another version in the spec: kubectl refuses what it does not know",
    expect="does what it says * exit code 1: * unknown field * spec.scheduler",
)
def unknown_field(pod: Object) -> None:
    pod["spec"]["scheduler"] = "my-scheduler"


@mutant(
    claim="kubectl-create-scheduler",
    input="scheduler",
    fault="the file names a namespace that nobody has made",
    expect="create -f * does what it says * namespaces * my-schedulers * not found",
)
def namespace_that_is_not_there(objects: list[Object]) -> None:
    for obj in objects:
        if "namespace" in obj["metadata"]:
            obj["metadata"]["namespace"] = "my-schedulers"


@mutant(
    claim="kubectl-create-scheduler",
    input="scheduler",
    fault="R1: the file holds the Deployment and not all of its bindings",
    expect="is bound * may not list * a rule or binding is missing",
)
def without_volume_scheduler(objects: list[Object]) -> list[Object]:
    return faults.without_volume_scheduler(objects)


@mutant(
    claim="kubectl-get-pods",
    input="words",
    fault="a list with a column of one's own for the scheduler's name",
    expect="the list tells nothing of * BY of annotation-second-scheduler: my-scheduler-",
)
def column_of_schedulers(words: list[str]) -> None:
    words[-1] = "--output=custom-columns=NAME:.metadata.name,STATUS:.status.phase,BY:.spec.schedulerName"


@mutant(
    claim="kubectl-get-pods",
    input="where",
    fault="the schedulers are looked for in the namespace of the pods",
    expect="lists as Running: kube-scheduler-* not listed",
    renames=True,
)
def another_namespace(where: str) -> str:
    return where.replace("kube-system", "default")


@mutant(
    claim="kubectl-version",
    input="words",
    fault="only the client is asked, which says nothing of the cluster",
    expect="shows the client's version, and the server's as * server: none",
)
def client_only(words: list[str]) -> None:
    words.append("--client")


@mutant(
    claim="kubectl-version",
    input="scheduler",
    fault="I5: a scheduler of a newer minor version than the API server",
    expect="goes with the API server * it is newer * version skew policy",
)
def newer_scheduler(version: str) -> str:
    major, minor, patch = version.split(".")
    return f"{major}.{int(minor) + 1}.{patch}"
