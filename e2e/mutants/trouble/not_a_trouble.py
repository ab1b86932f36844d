"""Mutants of test_not_a_trouble.py."""

from __future__ import annotations

from schedproof.api import Object
from schedproof.deploy import faults, troubles
from schedproof.deploy.troubles import Trouble
from schedproof.mutants import mutant


@mutant(
    claim="probe-on-old-port",
    input="faults",
    fault="both have the wrong livenessProbe: that of the second would be taken for the readinessProbe",
    expect="trouble is named (readiness-probe-on-old-port) * named is liveness-probe-on-old-port",
)
def same_probe(each: list[Trouble]) -> list[Trouble]:
    return [each[0], each[0]]


@mutant(
    claim="probe-on-old-port",
    input="faults",
    fault="the probe is right, so nothing may be named",
    expect="trouble is named (readiness-probe-on-old-port) * named is none",
)
def right_probe(each: list[Trouble]) -> list[Trouble]:
    return [each[0], troubles.NONE]


@mutant(
    claim="warning-is-no-cause",
    input="without",
    fault="R3: a binding to a role that does not exist stands beside it: that is wrong, though nothing needs it yet",
    expect="no cause is named * which does not exist",
)
def dangling_binding(objects: list[Object]) -> list[Object]:
    wrong = next(obj for obj in objects if obj["kind"] == "ClusterRoleBinding")
    metadata = {**wrong["metadata"], "name": f"{wrong['metadata']['name']}-too"}
    return [*objects, {**wrong, "metadata": metadata, "roleRef": {**wrong["roleRef"], "name": "system:no-such-role"}}]


@mutant(
    claim="warning-is-no-cause",
    input="without",
    fault="R1: a role is missing without which it binds nothing",
    expect="it may not list storageclasses.storage.k8s.io; a rule or binding is missing",
)
def needed_role_missing(objects: list[Object]) -> list[Object]:
    return faults.without_volume_scheduler(objects)


@mutant(
    claim="binder-without-event",
    input="removed",
    fault="events are written after all, so that the claim says nothing about the audit log alone",
    expect="known from: Scheduled event and audit log",
)
def events_written(_: list[str]) -> list[str]:
    return []


@mutant(
    claim="binder-without-event",
    input="removed",
    fault="the right to bind went with the right to write events",
    expect="it may not * create pods/binding",
)
def no_right_to_bind(removed: list[str]) -> list[str]:
    return [*removed, "write pods/binding"]
