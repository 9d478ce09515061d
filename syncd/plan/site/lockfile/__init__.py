"""The lock file, and what a plan has seen."""
