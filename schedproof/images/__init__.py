"""Container images: the scheduler under test, what it stands on, and kind's nodes."""
