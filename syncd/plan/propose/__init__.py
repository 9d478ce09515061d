"""Plan a change request's content."""
