"""Integrate: what the platform or a Git remote has comes into a branch."""
