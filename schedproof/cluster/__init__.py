"""The kind cluster of a run: made, reused, known by its facts, and removed whatever happens."""
