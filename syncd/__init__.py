"""syncd joins a docs platform to Git: mirror, propose, reconcile, serve."""

__version__ = "0.1.0"
