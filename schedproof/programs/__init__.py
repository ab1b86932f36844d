"""Programs from PATH, cache, release pages or Go modules: one table says in which order."""
