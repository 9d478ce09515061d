"""Merge: what becomes of each page, and of the table of contents, when two sides changed."""
