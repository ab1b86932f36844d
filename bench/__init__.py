"""How fast schedproof is, beside what people use instead: ``make bench``. What is measured how is in docs/bench.md."""
