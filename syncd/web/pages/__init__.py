"""Whole pages of a site: the frame around a document, from values."""
