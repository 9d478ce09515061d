"""`check` and `explain`."""
