"""A scheduler's leader election: its settings, who leads, and how long nobody may lead after a fault.

The arithmetic is client-go's: the leader renews every ``retryPeriod``; a standby looks every ``retryPeriod`` plus up to
1.2 times that much, and takes a lease that it has seen unchanged for ``leaseDuration``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from schedproof.deploy import bundle
from schedproof.errors import UsageError
from schedproof.watch.deadlines import Deadline
from schedproof.watch.wait import wait_until

if TYPE_CHECKING:
    from schedproof.api import Api, Object

JITTER = 1.2
"""client-go's JitterFactor: up to so many times ``retryPeriod`` are added to it at random."""

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Timing:
    """Settings of a leader election, in seconds; kube-scheduler's defaults are 15, 10 and 2."""

    lease: float = 15.0
    renew: float = 10.0
    retry: float = 2.0

    @property
    def look(self) -> float:
        """The longest time between two looks of a standby."""
        return self.retry * (1 + JITTER)

    @property
    def crash_gap(self) -> tuple[float, float]:
        """Between which seconds the next one leads after the leader's death.

        Shortest: it died right before it would have renewed. Longest: a standby saw the last renewal one look late, and
        looks for the first time after its end another look late.
        """
        return self.lease - self.retry, self.lease + 2 * self.look

    @property
    def hand_over(self) -> float:
        """After how many seconds at most the next one leads when the leader has given its lease up."""
        return self.look


def timing(objects: Sequence[Object]) -> Timing:
    """Return the settings in a bundle's configuration.

    Raises:
        UsageError: One of them is no duration.
    """
    election: dict[str, Any] = next((config.election for config in bundle.configs(objects)), {})
    names = {"lease": "leaseDuration", "renew": "renewDeadline", "retry": "retryPeriod"}
    return Timing(**{field: _seconds(name, election[name]) for field, name in names.items() if election.get(name)})


def holder(api: Api, lease: bundle.Lease) -> str:
    """Return the identity of who holds a lease, as ``POD_uuid``; "" when nobody does or there is none."""
    return str(_spec(api.get("Lease", lease.name, lease.namespace)).get("holderIdentity") or "")


def transitions(api: Api, lease: bundle.Lease) -> int:
    """Return how often a lease has changed hands."""
    return int(_spec(api.get("Lease", lease.name, lease.namespace)).get("leaseTransitions") or 0)


def wait_until_held(api: Api, lease: bundle.Lease, by: Callable[[str], bool], deadline: Deadline, expected: str) -> str:
    """Wait until somebody for whom ``by`` is true of the identity holds a lease, and return that identity.

    Raises:
        WaitTimeout: Nobody did in time.
    """
    found: list[str] = []

    def held(leases: list[Object]) -> bool:
        found[:] = [str(_spec(one).get("holderIdentity") or "") for one in leases]
        return any(identity and by(identity) for identity in found)

    wait_until(api, "Lease", lease.namespace, held, deadline=deadline, fields=f"metadata.name={lease.name}",
               expected=expected)  # fmt: skip
    return found[0]


def _spec(lease: Object | None) -> dict[str, Any]:
    spec: dict[str, Any] = (lease or {}).get("spec") or {}
    return spec


def _seconds(name: str, text: Any) -> float:
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|h|m|s)", str(text))
    if not parts or "".join(number + unit for number, unit in parts) != str(text):
        raise UsageError(f"leaderElection.{name} is a duration such as 15s", seen=str(text))
    return sum(float(number) * _UNITS[unit] for number, unit in parts)
