# What we use of pytest-xdist, which has no types.
