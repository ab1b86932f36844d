"""A scheduler that a claim deploys, whatever its shape: what all of them can be asked and told."""

from __future__ import annotations

import contextlib
import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

from schedproof.deploy import bundle, checks
from schedproof.deploy.renaming import CLUSTER_WIDE
from schedproof.errors import ApiError, SchedproofError
from schedproof.watch.deadlines import ROLLOUT, Deadline

if TYPE_CHECKING:
    from schedproof.api import Api, Object
    from schedproof.cluster.facts import Facts

LOG_LINES = 200
"""So many of the last lines of a log are read for a cause."""

Listener = Callable[[str, Any], None]


class Scheduler(ABC):
    """One scheduler, as a bundle of manifests describes it.

    Args:
        api: The cluster.
        facts: What is known of it.
        objects: The bundle, already under names of its own (:func:`schedproof.deploy.manifests.renamed`).
        name: The schedulerName that its pods ask for; by default the first one that its configuration serves.
        namespace: Where its workload is.

    Attributes:
        deployed: Whether something of it may be in the cluster, also when deploying it failed half-way.
        patience: How long it may take until it runs, where a claim says nothing.
        listener: Is told of each moment (``deploy``, ``ready``, ``kill``, ...) by its name, for the claim's mutant.
    """

    def __init__(self, api: Api, facts: Facts, objects: Sequence[Object], *, name: str = "", namespace: str) -> None:
        self._api, self._facts = api, facts
        self.objects = copy.deepcopy(list(objects))
        for obj in self.objects:
            if obj["kind"] not in CLUSTER_WIDE:
                obj["metadata"].setdefault("namespace", bundle.namespace(obj))
        self.served = bundle.served(objects)
        self.name = name or self.served[0]
        self.namespace = namespace
        self.lease = bundle.lease(objects)
        self.deployed = False
        self.patience = ROLLOUT
        self.listener: Listener = _nobody

    @property
    @abstractmethod
    def identity(self) -> str:
        """The user that the API server sees, e.g. ``system:serviceaccount:kube-system:my-scheduler``."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Name and shape for messages, e.g. ``scheduler my-scheduler (Deployment kube-system/my-scheduler)``."""

    def deploy(self, *, allow_rival: bool = False) -> Self:
        """Install it and return at once; see :meth:`wait_until_ready`.

        Args:
            allow_rival: Let it answer to the default scheduler's name; for clusters of one's own only.

        Raises:
            UsageError: It would answer to ``default-scheduler``, overwrite a role of the system, or something that is
                not ours (and that would be removed at the end).
            ApiError: The API server refused an object.
        """
        if not allow_rival:
            checks.refuse_rivals(self.objects)
        if not self.deployed:
            self._refuse_to_overwrite()
        self.deployed = True  # from here on there is something to remove
        self._deploy()
        self.happened("deploy")
        return self

    def wait_until_ready(self, deadline: Deadline | None = None) -> Self:
        """Wait until it runs, as far as its shape can tell; that it schedules is shown by a bound pod only.

        Args:
            deadline: How long it may take; by default :attr:`patience`.

        Raises:
            Unreachable: It crashes, or something it needs is not there; what it said is quoted.
            WaitTimeout: The deadline passed.
        """
        self._wait_until_ready(deadline or self.patience)
        self.happened("ready")
        return self

    def uninstall(self) -> None:
        """Remove it, and see that nothing of it is left.

        Raises:
            WaitTimeout: Something of it was still there after the deadline.
            ApiError: A removal was refused, or something is left.
        """
        self._uninstall()
        left = self.left()
        if left:
            raise ApiError(f"nothing is left of {self.title}", seen=f"still there: {', '.join(left)}")
        self.deployed = False
        self.happened("uninstall")

    def begin_uninstall(self) -> None:  # noqa: B027 - most shapes end in no time
        """Tell its processes to end, and do not wait: :meth:`uninstall` does, which must follow."""

    @abstractmethod
    def left(self) -> list[str]:
        """Return what is still there of it, in words; empty after :meth:`uninstall`."""

    @abstractmethod
    def pods(self) -> list[Object]:
        """Return its own Pods, those that are being deleted included; none for a scheduler outside of Pods."""

    @abstractmethod
    def logs(self, *, lines: int = LOG_LINES, previous: bool = False) -> str:
        """Return the last lines of its log, each process's under its name; "" where there is none."""

    @abstractmethod
    def cause(self) -> str:
        """Return the likely cause of its not working, in one sentence; empty when nothing looks wrong."""

    def evidence(self) -> dict[str, str]:
        """Return what else should be kept about it at a failure: file name -> text."""
        return {}

    def findings(self) -> list[checks.Finding]:
        """Return what is wrong with its manifests, compared with the cluster."""
        return checks.findings(self.objects, self._api)

    def state(self) -> str:
        """Return its state in at most eight lines; never raises one of our errors."""
        summary, cause = self.explained()
        return f"{summary}\ncause: {cause}" if cause else summary

    def explained(self) -> tuple[str, str]:
        """Return its state in a few lines, and the likely cause of its not working (see :meth:`cause`).

        For failure messages: never raises one of our errors.
        """
        try:
            return "\n".join(self._summary()), self.cause()
        except SchedproofError as error:
            return f"{self.title}: its state could not be read: {error.message.seen or error.message.expected}", ""

    def happened(self, moment: str) -> None:
        """Tell the listener of a moment."""
        self.listener(moment, self)

    @contextlib.contextmanager
    def unheard(self) -> Iterator[Self]:
        """Act on it without telling the listener: for the listener itself, which would be told of its own doing."""
        listener, self.listener = self.listener, _nobody
        try:
            yield self
        finally:
            self.listener = listener

    @abstractmethod
    def _refuse_to_overwrite(self) -> None:
        """Refuse when somebody else has put something where this one would be."""

    @abstractmethod
    def _deploy(self) -> None:
        """Install it."""

    @abstractmethod
    def _wait_until_ready(self, deadline: Deadline) -> None:
        """Wait until it runs."""

    @abstractmethod
    def _uninstall(self) -> None:
        """Remove it, and wait until its processes are gone."""

    @abstractmethod
    def _summary(self) -> list[str]:
        """Return its state in a few lines."""


def _nobody(moment: str, subject: Any) -> None:
    """Listen for nobody."""
