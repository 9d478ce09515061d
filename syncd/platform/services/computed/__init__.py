"""Documents that are computed when they are read: from an OpenAPI specification, or by a translation."""
