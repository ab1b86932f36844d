"""Waiting for a state: list, then watch, under a named deadline."""
