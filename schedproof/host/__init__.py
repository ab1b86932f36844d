"""The machine underneath: the container engine and what must be right before a cluster can live on it."""
