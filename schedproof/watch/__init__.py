"""Waiting for a state: list, then watch, under a named deadline."""

from __future__ import annotations

from schedproof.watch.counter import waited

__all__ = ["waited"]
