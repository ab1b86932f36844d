"""Quantities of resources, exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation

from schedproof.api import Object
from schedproof.errors import ApiError

_SUFFIXES: Mapping[str, Decimal] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal("1e3"),
    "M": Decimal("1e6"),
    "G": Decimal("1e9"),
    "T": Decimal("1e12"),
    "P": Decimal("1e15"),
    "E": Decimal("1e18"),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}


def quantity(text: str) -> Decimal:
    """Return the number that a quantity (``100m``, ``1Gi``, ``2e3``) stands for.

    Raises:
        ApiError: It is no quantity.
    """
    text = str(text).strip()
    suffix = next((each for each in (text[-2:], text[-1:]) if each in _SUFFIXES), "")
    try:
        return Decimal(text.removesuffix(suffix)) * _SUFFIXES.get(suffix, Decimal(1))
    except InvalidOperation as error:
        raise ApiError("the API server sends quantities", seen=text) from error


def requests(pod: Object) -> dict[str, Decimal]:
    """Return what a pod takes of its node at least, the pod's own place (``pods``) included.

    Sums its containers; each init container counts while it runs. Sidecars count as init containers: never too much.
    """
    spec = pod["spec"]
    total = _sum(spec.get("containers") or [])
    for container in spec.get("initContainers") or []:
        for resource, amount in _sum([container]).items():
            total[resource] = max(total.get(resource, Decimal(0)), amount)
    for resource, amount in ((spec.get("resources") or {}).get("requests") or {}).items():
        total[resource] = quantity(amount)
    for resource, amount in (spec.get("overhead") or {}).items():
        total[resource] = total.get(resource, Decimal(0)) + quantity(amount)
    return {**total, "pods": Decimal(1)}


def _sum(containers: Iterable[Object]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for container in containers:
        asked = container.get("resources") or {}
        # A limit without a request is a request of the same size; the API server fills it in on creation.
        for resource, amount in {**(asked.get("limits") or {}), **(asked.get("requests") or {})}.items():
            total[resource] = total.get(resource, Decimal(0)) + quantity(amount)
    return total
