"""The scheduler under test as objects in a cluster: load, check, deploy, watch, remove."""
