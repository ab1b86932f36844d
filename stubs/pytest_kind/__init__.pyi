# Types of pytest-kind 22.11.1, which ships none: only what schedproof uses or overrides.
from .cluster import KindCluster

__all__ = ["KindCluster"]
