"""`run`, and what it says of itself."""
