"""A revision's tree of pages and files, and their paths."""
