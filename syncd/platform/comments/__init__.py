"""Discussions: comments on spaces and change requests, their replies and reactions, and who took part."""
