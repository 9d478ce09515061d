"""OpenAPI specifications: kept by their slug, read from an address or a text, and shown by version."""
