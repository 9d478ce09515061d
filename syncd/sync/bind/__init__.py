"""Bind: the first meeting of a space with Git that holds content already."""
