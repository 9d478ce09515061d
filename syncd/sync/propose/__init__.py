"""Propose: what a branch says becomes the content of a change request."""
