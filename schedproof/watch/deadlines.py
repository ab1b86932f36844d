"""Every deadline has a name, a value and a reason; a time-out names it.

They are upper bounds, several times what a healthy cluster on two busy cores needs: a wait ends the moment its state is
there, so a generous deadline costs nothing but in failures.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """How long a state may take.

    Attributes:
        name: As it stands in messages.
        seconds: From the begin of the wait.
        why: What usually takes how long.
    """

    name: str
    seconds: float
    why: str

    def __str__(self) -> str:
        """Return e.g. ``BIND (30 s)``."""
        return f"{self.name} ({self.seconds:g} s)"


BIND = Deadline("BIND", 30, "a scheduler binds a pod in milliseconds; after a back-off in up to 10 s")
BROKEN = Deadline("BROKEN", 12, "BIND under a mutant: the binding should not come, and the message says why it did not")
EVENT = Deadline("EVENT", 5, "a Scheduled event is sent right after the binding, behind at most a queue of its kind")
RUN = Deadline("RUN", 60, "sandbox and container start in 1 to 2 s, on a node busy with other pods in 10 s")
ROLLOUT = Deadline("ROLLOUT", 60, "a scheduler's Deployment is ready 3 s after its image is on the nodes")
STUCK = Deadline("STUCK", 20, "ROLLOUT under a mutant: it should not become ready, and the message says why it did not")
DELETE = Deadline("DELETE", 60, "a pod gets up to 30 s to end by itself, the kubelet some more to say so")
AUDIT = Deadline("AUDIT", 10, "an answered request is in the audit log when its answer arrives")
LATE = Deadline("LATE", 8, "a binding is seen by a watch some milliseconds before its request ends and is logged")
NODES = Deadline("NODES", 180, "nodes are Ready about 10 s after kind is done, later when images are still unpacked")
CONTROL = Deadline("CONTROL", 30, "a positive control is an ordinary pod: see BIND")
HOLD = Deadline("HOLD", 5, "a forbidden change is watched for so long: a running scheduler needs milliseconds")
