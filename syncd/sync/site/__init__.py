"""Reconcile: a site follows its file; here a site's plan meets the platform, the repository and the lock."""
