"""Redirects."""
