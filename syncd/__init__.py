"""syncd joins a docs platform to Git: mirror, propose, reconcile, serve."""

__version__ = "0.1.0"
RELEASED_AT = "2026-11-22T00:00:00.000Z"
"""When this version was made; set together with it."""
