"""What only this repository's own claims and self-tests need; the plugin itself comes by its entry point."""

from __future__ import annotations

pytest_plugins = ("pytester",)
