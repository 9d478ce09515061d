"""Sections, groups and variants: made, moved, renamed, ordered and deleted."""
