"""Revisions: trees of pages and files that never change, how they are read as JSON, and where their files lie."""
