"""Where the data files lie: ``manifests/`` beside the package in a checkout, inside it in a wheel."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
"""The checkout's top folder (meaningless in a wheel)."""


def manifests(*parts: str) -> Path:
    """Return the path of a file or folder below ``manifests/``."""
    inside = Path(__file__).parent / "manifests"
    return (inside if inside.is_dir() else CHECKOUT / "manifests").joinpath(*parts)
