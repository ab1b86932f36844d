"""What is kept about a failure: collected before teardown, secrets taken out, size bounded."""
