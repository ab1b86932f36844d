"""What a scheduler says about itself, turned into the likely cause."""

from __future__ import annotations

from typing import Any

import pytest

from schedproof.deploy import causes
from schedproof.deploy.checks import Finding

FORBIDDEN = (
    'E1201 15:59:50.1 1 reflector.go:158] "Unhandled Error" err="Failed to watch *v1.StorageClass: storageclasses.'
    'storage.k8s.io is forbidden: User \\"system:serviceaccount:kube-system:my-scheduler\\" cannot list resource '
    '\\"storageclasses\\" in API group \\"storage.k8s.io\\" at the cluster scope"'
)
LEASE = (
    'error retrieving resource lock kube-system/mine: leases.coordination.k8s.io "mine" is forbidden: User "u" cannot '
    'get resource "leases" in API group "coordination.k8s.io" in the namespace "kube-system"'
)

LOGS = {
    "a rule is missing": (FORBIDDEN, "may not list storageclasses.storage.k8s.io; a rule or binding is missing"),
    "a lease is forbidden": (LEASE, "get leases.coordination.k8s.io in kube-system; a rule or binding is missing: it"),
    "a flag is gone": ("Error: unknown flag: --scheduler-name\n", "no flag --scheduler-name; today it is profiles[]."),
    "an unheard-of flag": ("unknown flag: --colour", "no flag --colour"),
    "an old configuration": (
        r'no kind \"KubeSchedulerConfiguration\" is registered for version \"kubescheduler.config.k8s.io/v1beta3\"',
        "version kubescheduler.config.k8s.io/v1beta3; write kubescheduler.config.k8s.io/v1",
    ),
    "two profiles of one name": (
        'E1201 16:14:12.0 1 run.go:72] "command failed" err="profiles[1].schedulerName: Duplicate value: {}"',
        "it exits: profiles[1].schedulerName: Duplicate value: {}",
    ),
    "an error of several lines": (
        ('E1204 04:16:46.1 1 run.go:72] "command failed" err=<\n'
         "\tObject 'Kind' is missing in 'a:\n\t  b: true\n\t'\n >\n"),
        "it exits: Object 'Kind' is missing in 'a: b: true '",
    ),
    "a doubled backslash": (
        'Error: "kube-scheduler" does not take any arguments, got ["\\\\"]',
        "a backslash is its argument: a doubled backslash",
    ),
    "a lock of old times": (
        'run.go:72] "command failed" err="leaderElection.resourceLock: Invalid value: \\"endpointsleases\\": must be"',
        'it exits: leaderElection.resourceLock: Invalid value: "endpointsleases"',
    ),
    "no cluster": (
        'run.go:72] "command failed" err="invalid configuration: no configuration has been provided, try setting"',
        "clientConnection.kubeconfig",
    ),
    "a rival": ("pod x is already assigned to node y", "two schedulers serve one name"),
    "a lost lease": ("leaderelection lost", "it lost its lease"),
}  # fmt: skip


@pytest.mark.parametrize(("log", "sentence"), LOGS.values(), ids=list(LOGS))
def test_the_log_tells_the_cause(log: str, sentence: str) -> None:
    assert sentence in causes.from_log(f"I1201 starting\n{log}\nI1201 more\n")


@pytest.mark.parametrize(
    "log",
    [
        "",
        "I1201 15:59:50.1 1 serving.go:386] Generated self-signed cert in-memory",
        # Without the RoleBinding to extension-apiserver-authentication-reader it warns and works (R2).
        'User "u" cannot get resource "configmaps" in API group "" in the namespace "kube-system"',
    ],
)
def test_a_harmless_log_tells_nothing(log: str) -> None:
    assert causes.from_log(log) == ""


def pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "p"}, "spec": {"nodeName": "n"}, "status": {"containerStatuses": [status]}}


def test_a_crash_loop_quotes_what_the_container_said_last() -> None:
    held = causes.stuck([pod(
        state={"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
        lastState={"terminated": {"exitCode": 1, "message": "I1201 flags\nError: unknown flag: --port\nUsage of it\n"}},
    )])  # fmt: skip
    assert str(held) == "Pod p: CrashLoopBackOff: Error: unknown flag: --port"


def test_an_image_that_is_not_there_quotes_the_kubelet() -> None:
    held = causes.stuck([pod(state={"waiting": {"reason": "ErrImageNeverPull", "message": "image x is not present"}})])
    assert str(held) == "Pod p: ErrImageNeverPull: image x is not present"


def test_a_second_exit_with_a_code_is_hopeless_before_any_back_off() -> None:
    held = causes.stuck([pod(state={"terminated": {"exitCode": 1, "message": "bye"}}, restartCount=1)])
    assert held is not None
    assert held.reason == "exit code 1"


@pytest.mark.parametrize(
    "status",
    [
        {"state": {"waiting": {"reason": "ContainerCreating"}}},
        {"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1}}, "restartCount": 1},
        {"state": {"terminated": {"exitCode": 1}}, "restartCount": 0},
        {},
    ],
)
def test_a_container_that_may_still_run_is_not_stuck(status: dict[str, Any]) -> None:
    assert causes.stuck([pod(**status)]) is None


def test_of_a_log_the_last_errors_are_told_once_each_without_time_and_place() -> None:
    log = (
        "==> pod <==\nI1201 16:00:00.1       1 server.go:10] Starting\n"
        'E1201 16:00:00.2       1 reflector.go:227] "Failed to watch" err="failed to list \\"x\\""\n'
        "E1201 16:00:00.3       1 options.go:205] The manifest file is empty, ignoring.\n"
        'E1201 16:00:00.4       1 reflector.go:227] "Failed to watch" err="failed to list y"\n'
        'E1201 16:00:00.5       1 reflector.go:227] "Failed to watch" err="failed to list \\"x\\""\n'
    )
    assert causes.telling(log, 3) == ["failed to list y", 'failed to list "x"']
    assert causes.telling("==> pod <==\nI1201 16:00:00.1       1 server.go:10] Starting\n", 3) == ["Starting"]


FINDING = Finding("probe", "Deployment/x", "its probe asks by HTTP", "ask by HTTPS")
RUNNING = pod(state={"running": {}})


@pytest.mark.parametrize(
    ("pods", "log", "findings", "wanted", "sentence"),
    [
        ([RUNNING], "unknown flag: --port", [FINDING], 1, "no flag --port"),
        ([RUNNING], "", [FINDING], 1, "Deployment/x: its probe asks by HTTP"),
        ([], "", [], 0, "it is scaled to 0 replicas"),
        ([], "", [], 1, "it has no Pod"),
        ([{"metadata": {"name": "p"}, "spec": {}}], "", [], 1, "not bound to a node"),
        ([RUNNING], "", [], 1, ""),
    ],
)  # fmt: skip
def test_the_likeliest_cause_comes_first(
    pods: list[dict[str, Any]], log: str, findings: list[Finding], wanted: int, sentence: str
) -> None:
    found = causes.likely(pods, log, findings, wanted=wanted)
    assert sentence in found
    assert bool(found) == bool(sentence)


def test_a_name_that_nobody_serves_is_told_with_what_was_meant() -> None:
    assert causes.unserved("my-custom-scheduler", ["my-scheduler"]) == (
        "no scheduler serves the name my-custom-scheduler; served: my-scheduler; did you mean my-scheduler?"
    )
    assert causes.unserved("xyz", []) == "no scheduler serves the name xyz; served: none"
    assert causes.unserved("my-scheduler", ["my-scheduler"]) == ""
