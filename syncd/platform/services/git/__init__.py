"""Imports of a space from Git repositories, and exports to them."""
