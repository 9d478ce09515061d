"""Change requests: list, show, open, merge, archive and reopen them."""
