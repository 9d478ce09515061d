"""Webhooks that Git hosts and the platform send: each only wakes the repository that it names."""
