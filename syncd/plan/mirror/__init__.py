"""Plan a mirror commit."""
