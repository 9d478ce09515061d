"""Spaces and collections: where they stand, what they show of themselves, and who may do what in them."""
