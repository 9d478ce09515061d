"""`push --ci`, and what CI services read."""
