"""The one door to kubectl, for the few claims and pieces of evidence that are about what it prints.

Everything else asks the API.
"""

from __future__ import annotations

from pathlib import Path

from schedproof import folders
from schedproof.cluster.facts import Facts
from schedproof.command import Completed, run

SECONDS = 30.0


def kubectl(
    program: Path,
    kubeconfig: Path,
    *words: str | Path,
    seconds: float = SECONDS,
    stdin: str | None = None,
    check: bool = True,
) -> Completed:
    """Run kubectl against the cluster of a kubeconfig, leaving the user's own files alone.

    Raises:
        CommandFailed: kubectl failed (with ``check``), or took longer than ``seconds``.
    """
    # Without KUBECACHEDIR kubectl would write what it discovers below the user's ~/.kube/.
    private = {"KUBECONFIG": str(kubeconfig), "KUBECACHEDIR": str(folders.cache() / "kubectl")}
    return run([program, *words], seconds=seconds, stdin=stdin, env=private, check=check)


def table(facts: Facts, *words: str) -> list[dict[str, str]]:
    """Run kubectl and return the table that it prints, a dict a line, by the words of its header.

    The columns are found by where the header's words begin: cells may be empty or hold spaces.

    Raises:
        CommandFailed: kubectl failed.
    """
    printed = kubectl(facts.kubectl, facts.kubeconfig, *words)
    header, *lines = printed.stdout.splitlines() or [""]
    # Two spaces part columns; one is within a heading (LAST SEEN).
    begins = [at for at, letter in enumerate(header) if letter != " " and (at == 0 or header[:at].endswith("  "))]
    ends = [*begins[1:], None]
    return [
        {header[begin:end].strip(): line[begin:end].strip() for begin, end in zip(begins, ends, strict=True)}
        for line in lines
    ]


def event_sources(facts: Facts, namespace: str, reason: str) -> dict[str, list[str]]:
    """Return what ``kubectl get events -o wide`` shows as SOURCE of the events of a reason: OBJECT to sources.

    SOURCE holds the component, and behind a comma its instance where the event names one (the second scheduler's do).
    """
    sources: dict[str, list[str]] = {}
    for line in table(facts, "get", "events", "--output=wide", f"--namespace={namespace}"):
        if line.get("REASON") == reason:
            sources.setdefault(line["OBJECT"], []).append(line["SOURCE"].split(",")[0])
    return sources
