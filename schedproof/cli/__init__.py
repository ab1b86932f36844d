"""The command line: one way in for make, CI and people."""
