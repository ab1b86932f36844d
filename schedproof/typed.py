"""What a user types: kubectl's command lines of the documents, and what kubectl says to them.

Here kubectl's text is the claim. Whether a pod or a scheduler is there afterwards is asked of the API, not of kubectl.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schedproof.errors import ClaimFailed
from schedproof.kubectl import kubectl, table

if TYPE_CHECKING:
    from pathlib import Path

    from schedproof.api import Api
    from schedproof.cluster.facts import Facts


def assert_typed(facts: Facts, *words: str | Path, stdin: str | None = None) -> str:
    """Assert that kubectl does what a line says, and return what it prints.

    Raises:
        ClaimFailed: It exits with an error.
    """
    done = kubectl(facts.kubectl, facts.kubeconfig, *words, stdin=stdin, check=False)
    if done.code != 0:
        raise ClaimFailed(f"`{_line(words)}` does what it says", seen=f"exit code {done.code}: {_first(done.stderr)}")
    return done.stdout


def assert_refused(facts: Facts, *words: str | Path, saying: str, stdin: str | None = None) -> None:
    """Assert that kubectl exits at a line, and what it says.

    Args:
        facts: The cluster.
        words: The line, without kubectl itself.
        saying: Words that it must say.
        stdin: What it reads, for ``-f -``.

    Raises:
        ClaimFailed: It accepts the line, or says something else.
    """
    expected = f"`{_line(words)}` exits and says: {saying}"
    done = kubectl(facts.kubectl, facts.kubeconfig, *words, stdin=stdin, check=False)
    if done.code == 0:
        raise ClaimFailed(expected, seen=f"it accepts the line: {_first(done.stdout) or 'and says nothing'}")
    if saying not in done.stderr:
        raise ClaimFailed(expected, seen=f"exit code {done.code}: {_first(done.stderr)}")


def assert_listed_running(facts: Facts, words: Sequence[str], names: Sequence[str]) -> list[dict[str, str]]:
    """Assert that a list of ``kubectl get pods`` shows pods as Running, and return the list, a dict a line.

    Raises:
        ClaimFailed: One is missing, or is not Running.
    """
    listed = table(facts, *words)
    shown = {line.get("NAME", ""): line.get("STATUS", "") for line in listed}
    wrong = [name for name in names if shown.get(name) != "Running"]
    if wrong:
        raise ClaimFailed(
            f"`{_line(words)}` lists as Running: {', '.join(names)}",
            seen="\n".join(f"{name}: {shown.get(name) or 'not listed'}" for name in wrong),
            cause="another namespace was asked, or the pods do not run",
        )
    return listed


def assert_tells_nothing_of(listed: Sequence[Mapping[str, str]], words: Sequence[str]) -> None:
    """Assert that no cell of a list (but the pods' names) is one of some words, a scheduler's name say.

    Raises:
        ClaimFailed: One is.
    """
    found = [f"{column} of {line['NAME']}: {cell}" for line in listed for column, cell in line.items()
             if column != "NAME" and cell in words]  # fmt: skip
    if found:
        raise ClaimFailed(f"the list tells nothing of {', '.join(words)}", seen="\n".join(found))


def assert_versions(facts: Facts, words: Sequence[str], scheduler: str) -> None:
    """Assert that ``kubectl version`` shows client and server, and that the scheduler goes with the server.

    Args:
        facts: The cluster.
        words: The line, without kubectl itself; it asks for JSON.
        scheduler: The scheduler's version.

    Raises:
        ClaimFailed: One is not shown, or the scheduler is newer than the API server, or more than one minor older.
    """
    shown = json.loads(assert_typed(facts, *words))
    versions = {side: (shown.get(f"{side}Version") or {}).get("gitVersion", "") for side in ("client", "server")}
    if not versions["client"] or versions["server"] != facts.kubernetes:
        raise ClaimFailed(
            f"`{_line(words)}` shows the client's version, and the server's as {facts.kubernetes}",
            seen=", ".join(f"{side}: {version or 'none'}" for side, version in versions.items()),
        )
    older = int(versions["server"].split(".")[1]) - int(scheduler.split(".")[1])
    if older not in (0, 1):
        raise ClaimFailed(
            f"a scheduler {scheduler} goes with the API server {versions['server']}",
            seen="it is newer" if older < 0 else f"it is {older} minor versions older",
            cause="Kubernetes' version skew policy: never newer, and at most one minor version older",
        )


def assert_log_shown(api: Api, facts: Facts, words: Sequence[str], *, pod: str, namespace: str) -> None:
    """Assert that a line of ``kubectl logs`` shows the log that the API has of a pod.

    Raises:
        ClaimFailed: It exits, or shows another log.
    """
    expected = f"`{_line(words)}` shows the log of {pod}"
    before = api.logs(pod, namespace)
    done = kubectl(facts.kubectl, facts.kubeconfig, *words, check=False)
    if done.code != 0:
        raise ClaimFailed(expected, seen=f"exit code {done.code}: {_first(done.stderr)}")
    if not before or not done.stdout.startswith(before):  # it may have grown meanwhile
        raise ClaimFailed(expected, seen=f"it begins with: {_first(done.stdout) or 'nothing'}")


def _line(words: Sequence[str | Path]) -> str:
    return " ".join(["kubectl", *(str(word) for word in words)])


def _first(said: str) -> str:
    return next((line for line in said.splitlines() if line.strip()), "")
