"""`run`, and the status of its last run."""
