"""Rendered pages that are kept for later visitors, also after a restart: their keys, and rendering them ahead."""
