"""Drift that a team accepts, as text of its site file."""
