"""OpenAPI specifications: kept by their slug, read from an address or a text, checked, and shown by version."""
