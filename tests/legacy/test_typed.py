"""What a user types: kubectl's answers, and what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedproof import typed
from schedproof.errors import ClaimFailed

PODS = "NAME   STATUS    BY\\npod1   Running   default-scheduler\\npod2   Pending   <none>"


class Facts:
    """What is asked of the facts here."""

    def __init__(self, program: Path) -> None:
        self.kubectl, self.kubeconfig, self.kubernetes = program, Path("/nowhere"), "v1.37.2"


def facts_with(fake: Any, body: str) -> Any:
    return Facts(fake("kubectl", body).path)


def test_line_that_does_what_it_says_returns_what_it_prints(fake: Any) -> None:
    assert typed.assert_typed(facts_with(fake, "print(*argv)"), "create", "-f", Path("a.yaml")) == "create -f a.yaml\n"


def test_line_that_exits_is_quoted(fake: Any) -> None:
    with pytest.raises(ClaimFailed, match="`kubectl get x` does what it says") as error:
        typed.assert_typed(facts_with(fake, "sys.exit('error: no x')"), "get", "x")
    assert "exit code 1: error: no x" in str(error.value)


@pytest.mark.parametrize(
    ("body", "seen"),
    [("print('pod/a created')", "it accepts the line: pod/a created"), ("sys.exit('error: other')", "error: other")],
)
def test_line_that_should_be_refused_and_is_not_so(fake: Any, body: str, seen: str) -> None:
    with pytest.raises(ClaimFailed, match="exits and says: unknown flag") as error:
        typed.assert_refused(facts_with(fake, body), "logs", "--x", saying="unknown flag")
    assert seen in str(error.value)


def test_list_shows_who_runs_and_what_it_tells(fake: Any) -> None:
    facts = facts_with(fake, f'print("{PODS}")')
    listed = typed.assert_listed_running(facts, ["get", "pods"], ["pod1"])
    typed.assert_tells_nothing_of(listed, ["my-scheduler", "pod1"])
    with pytest.raises(ClaimFailed) as error:
        typed.assert_tells_nothing_of(listed, ["default-scheduler"])
    assert "BY of pod1: default-scheduler" in str(error.value)
    with pytest.raises(ClaimFailed) as error:
        typed.assert_listed_running(facts, ["get", "pods"], ["pod1", "pod2", "pod3"])
    assert "pod2: Pending" in str(error.value)
    assert "pod3: not listed" in str(error.value)


VERSIONS = (
    "print(json.dumps(dict(clientVersion=dict(gitVersion='v1.37.2'), serverVersion=dict(gitVersion='{server}'))))"
)


@pytest.mark.parametrize(
    ("server", "scheduler", "seen"),
    [
        ("v1.36.0", "v1.36.0", "server: v1.36.0"),
        ("v1.37.2", "v1.38.0", "it is newer"),
        ("v1.37.2", "v1.35.4", "it is 2 minor versions older"),
    ],
)
def test_versions_that_do_not_go_together(fake: Any, server: str, scheduler: str, seen: str) -> None:
    facts = facts_with(fake, VERSIONS.format(server=server))
    with pytest.raises(ClaimFailed) as error:
        typed.assert_versions(facts, ["version"], scheduler)
    assert seen in str(error.value)


def test_scheduler_one_minor_older_goes_with_the_server(fake: Any) -> None:
    typed.assert_versions(facts_with(fake, VERSIONS.format(server="v1.37.2")), ["version"], "v1.36.3")


class Log:
    """An API that has one log."""

    def logs(self, pod: str, namespace: str) -> str:
        return f"log of {namespace}/{pod}\n"


def test_log_that_kubectl_shows_may_have_grown_but_is_the_pods(fake: Any) -> None:
    api: Any = Log()
    facts = facts_with(fake, 'print("log of a/b"); print("more")')
    typed.assert_log_shown(api, facts, ["logs", "b"], pod="b", namespace="a")
    with pytest.raises(ClaimFailed, match="shows the log of c"):
        typed.assert_log_shown(api, facts, ["logs", "c"], pod="c", namespace="a")
    with pytest.raises(ClaimFailed, match="shows the log of b"):
        typed.assert_log_shown(api, facts_with(fake, "sys.exit('no')"), ["logs", "b"], pod="b", namespace="a")
