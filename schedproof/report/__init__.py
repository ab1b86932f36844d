"""The results as people read them: table, matrix, docs/claims.md."""
