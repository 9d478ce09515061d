"""The lock file, requests whose answer is not known, and what a plan has seen."""
