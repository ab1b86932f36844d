"""The Kubernetes API as raw JSON objects: the only package that knows the ``kubernetes`` library."""

from __future__ import annotations

from schedproof.api.client import Api, Event
from schedproof.api.refusals import Expired, Forbidden, Object, Refused, Rule, missing_rule

__all__ = ["Api", "Event", "Expired", "Forbidden", "Object", "Refused", "Rule", "missing_rule"]
