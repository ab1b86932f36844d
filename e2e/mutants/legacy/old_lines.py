"""Mutants of test_old_lines.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.mutants import mutant

ANNOTATION = "scheduler.alpha.kubernetes.io/name"


@mutant(
    claim="pod-is-not-valid-yaml",
    input="text",
    fault="whoever copied it put image and name where they belong",
    expect="exits and says: mapping values are not allowed * it accepts the line: pod/my-custom-scheduler created",
)
def indented_rightly(text: str) -> str:
    return text.replace("      image:", "    image:").replace("      name: kube", "    name: kube")


@mutant(
    claim="pod-is-not-valid-yaml",
    input="text",
    fault="whoever copied it left image and name out: valid YAML, though no Pod that runs",
    expect="exits and says: mapping values are not allowed * it accepts the line: pod/my-custom-scheduler created",
)
def without_image_and_name(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("      "))


@mutant(
    claim="kubectl-logs-name-space",
    input="words",
    fault="the flag is written as it is today",
    expect="exits and says: unknown flag: --name-space * it accepts the line",
)
def flag_of_today(words: list[str]) -> None:
    words[-1] = words[-1].replace("--name-space", "--namespace")


@mutant(
    claim="kubectl-logs-name-space",
    input="words",
    fault="another flag is misspelt, too: kubectl exits, but not at this one",
    expect="exits and says: unknown flag: --name-space * exit code 1: error: unknown flag: --follows",
)
def another_flag(words: list[str]) -> None:
    words.insert(2, "--follows")


@mutant(
    claim="kubectl-logs-name-space",
    input="namespace",
    fault="the log is looked for in the namespace of the pods",
    expect="shows the log of kube-scheduler-* exit code 1: * not found",
    renames=True,
)
def another_namespace(namespace: str) -> str:
    return namespace.replace("kube-system", "default")


@mutant(
    claim="annotation-means-nothing",
    input="pod",
    fault="an admission webhook of old times turns the annotation into the field",
    expect="is bound by default-scheduler and by nobody else * my-scheduler-",
)
def turned_into_the_field(pod: Object) -> None:
    pod["spec"]["schedulerName"] = pod["metadata"]["annotations"][ANNOTATION]
