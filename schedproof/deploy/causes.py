"""Why a scheduler does not work, read from what it says itself: its log, its containers' state, its manifests.

Only the wording of kube-scheduler and the kubelet is read, which their users search the web for too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedproof.deploy import refusals
from schedproof.deploy.checks import Finding
from schedproof.watch.containers import MEANING

if TYPE_CHECKING:
    from schedproof.api import Object

REPLACED_FLAGS = {
    "scheduler-name": "profiles[].schedulerName in the configuration",
    "policy-config-file": "profiles[].plugins in the configuration",
    "lock-object-name": "leaderElection.resourceName in the configuration",
    "lock-object-namespace": "leaderElection.resourceNamespace in the configuration",
    "address": "--bind-address",
    "port": "--secure-port",
    "algorithm-provider": "profiles[].plugins in the configuration",
}
"""Flags of the documents' times and what says the same today."""

_ERROR = re.compile(r"(?i:error:|panic:|fatal)|[EF]\d{4} |.*unknown flag|.*\berr=")
_ERR = re.compile(r'\berr="((?:[^"\\]|\\.)*)"')
_HARMLESS = "The manifest file is empty, ignoring."
"""kube-scheduler 1.37 logs it as an error whenever it starts."""
_TOLD_TO_END = "finished without leader elect"
"""What kube-scheduler exits with at SIGTERM: somebody ended it (its probe?), it did not fail."""
_EXIT = re.compile(rf'"command failed" err="(?!{_TOLD_TO_END})((?:[^"\\]|\\.)*)"')
_NO_PROGRAM = re.compile(r'exec: \\*"([^"\\]+)\\*": (?:stat [^:]+: no such file|executable file not found)')
_PULLS = ("ErrImagePull", "ImagePullBackOff")
_BLOCK = re.compile(r"\berr=<\n((?:\t.*\n)+) >")
"""How klog writes an error of several lines."""


@dataclass(frozen=True)
class Stuck:
    """A container that does not run.

    Attributes:
        pod: Its Pod's name.
        reason: The kubelet's word, e.g. ``CrashLoopBackOff``.
        said: The kubelet's message, and what the container said last.
    """

    pod: str
    reason: str
    said: str

    def __str__(self) -> str:
        """Return it as one sentence."""
        return f"Pod {self.pod}: {self.reason}" + (f": {self.said}" if self.said else "")


def stuck(pods: Sequence[Object]) -> Stuck | None:
    """Return the first container that waits for something that does not come, with what it said last."""
    for pod in pods:
        for status in _statuses(pod):
            waiting: dict[str, Any] = (status.get("state") or {}).get("waiting") or {}
            ended = (
                (status.get("lastState") or {}).get("terminated") or (status.get("state") or {}).get("terminated") or {}
            )
            name = str(pod["metadata"]["name"])
            if waiting.get("reason") in MEANING:
                said = last_words(str(ended.get("message") or "")) or str(waiting.get("message") or "")
                return Stuck(name, str(waiting["reason"]), said)
            # The first exit comes before any CrashLoopBackOff: an exit with a code does not heal either.
            never = (pod.get("spec") or {}).get("restartPolicy") == "Never"
            if (
                (status.get("state") or {}).get("terminated")
                and ended.get("exitCode")
                and (never or status.get("restartCount", 0) >= 1)
            ):
                return Stuck(name, f"exit code {ended['exitCode']}", last_words(str(ended.get("message") or "")))
    return None


def last_words(log: str) -> str:
    """Return the line of a log that says best why the program ended: its last error, else its last line."""
    lines = [line.strip() for line in _on_one_line(log).splitlines() if line.strip()]
    errors = [line for line in lines if _ERROR.match(line) and _HARMLESS not in line]
    return _said((errors or lines or [""])[-1])[:300]


def telling(log: str, count: int) -> list[str]:
    """Return the last ``count`` errors of a log, each once; a log without errors gives its last lines."""
    lines = [line.strip() for line in _on_one_line(log).splitlines() if line.strip() and not line.startswith("==> ")]
    errors = [line for line in lines if _ERROR.match(line) and _HARMLESS not in line]
    # Newest last; of the same error's repetitions the newest.
    said = dict.fromkeys(_said(line) for line in reversed(errors or lines))
    return list(said)[:count][::-1]


def from_log(log: str) -> str:
    """Return what a scheduler's log says is wrong, as a sentence, or an empty text."""
    log = _on_one_line(log)
    return _told(log) or refusals.cause(log)


def _told(log: str) -> str:
    """Return what it says itself of why it ends or cannot work."""
    found = ((sentence, pattern.search(log)) for pattern, sentence in _SENTENCES)
    return next((sentence(match) for sentence, match in found if match), "")


def _gone_flag(found: re.Match[str]) -> str:
    instead = REPLACED_FLAGS.get(found[1])
    return f"this kube-scheduler has no flag --{found[1]}" + (f"; today it is {instead}" if instead else "")


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"unknown flag: --([\w-]+)"), _gone_flag),
    (
        re.compile(r'no kind \\*"KubeSchedulerConfiguration\\*" is registered for version \\*"([\w./]+)'),
        lambda found: (
            f"this kube-scheduler reads no configuration of version {found[1]}; write kubescheduler.config.k8s.io/v1"
        ),
    ),
    (
        re.compile(r"no configuration has been provided|unable to load in-cluster configuration"),
        lambda _: (
            "it knows no API server: with --config the flag --kubeconfig is ignored, so outside a ServiceAccount's Pod "
            "the configuration needs clientConnection.kubeconfig"
        ),
    ),
    (re.compile(r"is already assigned to node"),
     lambda _: "another scheduler had bound its pods first: two schedulers serve one name"),
    (re.compile(r"(?i)leader ?election lost"), lambda _: "it lost its lease and ended"),
    (_NO_PROGRAM, lambda found: f"its image has no program {found[1]}; correct the container's command"),
    (re.compile(r'"command failed" err="[^"]*?(?:open|stat) ([^ :"]+): no such file or directory'),
     lambda found: f"it exits, for it finds no file {found[1]}; mount it, or correct the path"),
    (
        re.compile(r'does not take any arguments, got \["\\\\"'),
        lambda _: (
            "a backslash is its argument: a doubled backslash at a line's end does not join it with the next line; "
            "write a single one"
        ),
    ),
    (_EXIT, lambda found: f"it exits: {_unescaped(found[1])}"),
)  # fmt: skip


def unserved(asked: str, served: Sequence[str]) -> str:
    """Return a sentence that nobody serves a name and what was probably meant; empty when it is served."""
    if asked in served:
        return ""
    close = difflib.get_close_matches(asked, served, n=1, cutoff=0.6)
    return f"no scheduler serves the name {asked}; served: {', '.join(served) or 'none'}" + (
        f"; did you mean {close[0]}?" if close else ""
    )


SAID = 160
"""So many characters of the kubelet's words about an image are quoted."""
RENAME = "correct schedulerName in the pods (they are made anew: it cannot be changed), or the profile's"


def likely(
    pods: Sequence[Object],
    log: str,
    findings: Sequence[Finding],
    *,
    wanted: int = 1,
    refused: str = "",
    standby: str = "",
) -> str:
    """Return the likely cause of a scheduler that does not work, or an empty text when nothing looks wrong.

    Args:
        pods: Its Pods.
        log: The end of its log.
        findings: What is wrong with its manifests.
        wanted: Replicas it should have.
        refused: Why its pods cannot be created, as the Deployment's status says it.
        standby: That another holds its lease, see :func:`schedproof.deploy.standby.behind`.

    Returns:
        One sentence, and if it is known a second line that begins with ``what to do: ``.
    """
    held, log = stuck(pods), _on_one_line(log)
    first = next(iter(findings), None)
    forbidden, grant = refusals.cause(log), refusals.cure(log, binding=_cure(findings, "missing-binding"))
    unbound = all(not (pod.get("spec") or {}).get("nodeName") for pod in pods)
    suspects = (
        ("" if wanted else "it is scaled to 0 replicas", "scale it up"),
        (_told(log) or (_told(held.said) if held else ""), _cure(findings, "config")),
        (forbidden, grant),
        (str(first or ""), first.cure if first else ""),
        _image(pods, held),
        (str(held or ""), MEANING.get(held.reason, "") if held else ""),
        (standby, "set leaderElection.resourceName to the name of a lease of its own"),
        (f"its Pod cannot be created: {refused}" if refused else "", ""),
        ("" if pods else "it has no Pod", ""),
        ("its own Pod is not bound to a node: the default scheduler has not placed it" if unbound else "", ""),
    )
    return next((with_cure(cause, cure) for cause, cure in suspects if cause), "")


def with_cure(cause: str, cure: str) -> str:
    """Return a cause with what to do about it on a second line."""
    return f"{cause}\nwhat to do: {cure}" if cause and cure else cause


def _cure(findings: Sequence[Finding], *ids: str) -> str:
    return next((finding.cure for finding in findings if finding.id in ids), "")


def _image(pods: Sequence[Object], held: Stuck | None) -> tuple[str, str]:
    """Return that its image is not there, and what to do (I2)."""
    if held is None or held.reason not in (*_PULLS, "ErrImageNeverPull"):
        return "", ""
    pod = next(pod for pod in pods if pod["metadata"]["name"] == held.pod)
    image = next((str(box.get("image")) for box in (pod.get("spec") or {}).get("containers") or []), "")
    where = (pod.get("spec") or {}).get("nodeName") or "its node"
    why = "and cannot be pulled" if held.reason in _PULLS else "and imagePullPolicy Never forbids to pull it"
    load = "load it into the nodes (kind load docker-image), or correct its name"
    return f"its image {image} is not on the node {where}, {why}: {held.said[:SAID]}", load


def _said(line: str) -> str:
    """Return a klog line's error, or what it says behind time, thread and place in the source."""
    error = _ERR.search(line)
    return _unescaped(error[1]) if error else re.sub(r"^[IWEF]\d{4} \S+ +\d+ [\w.-]+:\d+\] ", "", line)


def _on_one_line(log: str) -> str:
    """Return the log with each error of several lines on one, as klog writes the others."""

    def joined(found: re.Match[str]) -> str:
        said = " ".join(line.strip() for line in found[1].splitlines())
        return 'err="' + re.sub(r'(["\\])', r"\\\1", said) + '"'

    return _BLOCK.sub(joined, log)


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _statuses(pod: Object) -> list[dict[str, Any]]:
    status = pod.get("status") or {}
    return [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
