"""Change requests: proposed content, how it is written, and how it is merged."""
