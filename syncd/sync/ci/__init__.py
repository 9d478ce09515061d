"""Propose from a clone without memory, as CI jobs do."""
