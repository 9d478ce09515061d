"""Nouns of the API document: frozen shapes, one module per heading, no I/O."""
