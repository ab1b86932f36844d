"""What claims assert about pods and schedulers besides binding, with messages that say what is wrong and why.

Each raises :class:`~schedproof.errors.ClaimFailed`, a plain ``assert`` with numbers would leave the reader to guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from schedproof import kubectl
from schedproof.api import Api, Object, Refused
from schedproof.binder import events
from schedproof.deploy.metrics import attempts
from schedproof.errors import ApiError, ClaimFailed

if TYPE_CHECKING:
    from schedproof.cluster.facts import Facts
    from schedproof.pods import Pod
    from schedproof.shapes.deployment import Deployment


def assert_synced(scheduler: Deployment) -> None:
    """Assert that a scheduler has listed all it needs to schedule: every check of its ``/readyz`` is green.

    A scheduler that may not list something is Running, and Ready by ``/healthz``, and binds nothing.

    Raises:
        ClaimFailed: A check is red.
        ApiError: It does not answer.
    """
    checks = scheduler.synced()
    red = [line for line in checks.splitlines() if line.startswith("[-]")]
    if red or "sched-handler-sync" not in checks:
        raise ClaimFailed(
            f"scheduler {scheduler.name} is synced (its /readyz is green)",
            seen="\n".join(red) or f"no check sched-handler-sync among:\n{checks}",
            scheduler=scheduler.state(),
            cause=scheduler.cause(),
        )


def assert_metrics_answer(scheduler: Deployment, code: int, *, authenticated: bool) -> None:
    """Assert with which HTTP status ``/metrics`` answers somebody who may read it, or the anonymous.

    Raises:
        ClaimFailed: It answers otherwise.
        ApiError: It does not answer.
    """
    answered, _ = scheduler.metrics(authenticated=authenticated)
    if answered != code:
        who = "a ServiceAccount that may read it" if authenticated else "the anonymous"
        raise ClaimFailed(
            f"/metrics of scheduler {scheduler.name} answers {who} with {code}",
            seen=f"it answers with {answered}",
            scheduler=scheduler.state(),
            cause="a flag such as --authorization-always-allow-paths, or a role of system:anonymous or "
            "system:unauthenticated, opens it"
            if answered == HTTPStatus.OK
            else "the scheduler may not ask the API server who is asking (tokenreviews, subjectaccessreviews)",
        )


def assert_attempts(scheduler: Deployment, counts: Mapping[str, int]) -> None:
    """Assert what ``schedule_attempts_total`` counts for the scheduler's profile, by result.

    Args:
        scheduler: The scheduler.
        counts: Result (``scheduled``, ``unschedulable``, ``error``) to number; other results may be any: an
            attempt that failed in passing and was made again says nothing against the others.

    Raises:
        ClaimFailed: It counts otherwise.
        ApiError: It does not answer, or not with metrics.
    """
    code, text = scheduler.metrics()
    if code != HTTPStatus.OK:
        raise ApiError(
            f"/metrics of scheduler {scheduler.name} answers a ServiceAccount that may read it with 200",
            seen=f"it answers with {code}, so nothing is known of what it counts",
            scheduler=scheduler.state(),
            cause="the scheduler may not ask the API server who is asking (tokenreviews, subjectaccessreviews)",
        )
    counted = {result: n for (profile, result), n in attempts(text).items() if profile == scheduler.name and n}
    if {result: counted.get(result, 0) for result in counts} != dict(counts):
        raise ClaimFailed(
            f"schedule_attempts_total of profile {scheduler.name} is {_shown(counts)}",
            seen=f"it is {_shown(counted)}",
            scheduler=scheduler.state(),
            cause="the scheduler restarted and counts anew, another replica did the rest, or somebody else binds with "
            "its identity",
        )


def assert_nothing_left(scheduler: Deployment) -> None:
    """Assert that nothing of an uninstalled scheduler is in the cluster: no object, pod, lease or role edit.

    Raises:
        ClaimFailed: Something is.
    """
    left = scheduler.left()
    if left:
        raise ClaimFailed(
            f"nothing is left of scheduler {scheduler.name} after it was uninstalled",
            seen=f"still there: {', '.join(left)}",
            cause="somebody (a GitOps controller?) put it back, or a finalizer keeps it",
        )


def assert_scheduled_event(pod: Pod, by: str) -> None:
    """Assert that the pod's ``Scheduled`` events name exactly this scheduler; they come right after the binding.

    Raises:
        ClaimFailed: There is none, or one that names another.
    """
    told = pod.scheduled_events()
    reporters = list(dict.fromkeys(events.reporter(event) for event in told))
    if reporters != [by]:
        raise ClaimFailed(
            f"the Scheduled event of pod {pod.name} names {by}",
            seen="\n".join(events.line(event) for event in told) or "there is no Scheduled event about it",
            cause="somebody else writes events about it" if told else "the scheduler lacks the rule to create events",
        )


def assert_event_sources(facts: Facts, namespace: str, binders: Mapping[str, str]) -> None:
    """Assert what ``kubectl get events -o wide`` shows as SOURCE of the ``Scheduled`` events of a namespace.

    Args:
        facts: The cluster.
        namespace: The namespace.
        binders: Name of each pod to the one scheduler that must stand there.

    Raises:
        ClaimFailed: It shows something else.
        CommandFailed: kubectl failed.
    """
    shown = kubectl.event_sources(facts, namespace, reason=events.SCHEDULED)
    if shown != {f"pod/{pod}": [name] for pod, name in binders.items()}:
        wanted = ", ".join(f"{name} for {pod}" for pod, name in binders.items())
        raise ClaimFailed(
            f"`kubectl get events -o wide` shows as SOURCE of Scheduled in {namespace}: {wanted}",
            seen="\n".join(f"{', '.join(sources)} for {pod}" for pod, sources in shown.items())
            or "no Scheduled event at all",
            cause="another namespace was asked, or somebody else writes or deletes events",
        )


def assert_change_refused(api: Api, pod: Pod, change: Object, *, field: str) -> None:
    """Assert that the API server refuses a change of a pod as invalid (422) because of one field, which stays.

    Args:
        api: The API server.
        pod: The pod.
        change: A merge patch.
        field: Field of ``spec`` that the refusal must name.

    Raises:
        ClaimFailed: The change is accepted, or refused for another reason.
    """
    before = pod.current()["spec"].get(field)
    expected = f"the API server refuses a change of {field} on pod {pod.name} as invalid (422)"
    try:
        api.patch("Pod", pod.name, change, pod.namespace)
    except Refused as error:
        # The sentence is the same for every field; the difference that it shows names the one.
        if error.code != HTTPStatus.UNPROCESSABLE_ENTITY or field.lower() not in _changed(error.answer):
            raise ClaimFailed(
                expected, seen=f"it is refused for another reason: {error.code} {error.answer[:400]}"
            ) from error
    else:
        raise ClaimFailed(expected, seen=f"the change is accepted: {change}")
    if pod.current()["spec"].get(field) != before:
        raise ClaimFailed(expected, seen=f"{field} was {before} and is {pod.current()['spec'].get(field)}")


def _changed(answer: str) -> str:
    """Return the lines of the difference that differ, in small letters."""
    return "\n".join(line for line in answer.lower().splitlines() if line.lstrip().startswith(("-", "+")))


def _shown(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {result}" for result, number in sorted(counts.items())) or "nothing at all"
