"""What an OpenAPI specification says: read, checked, and as pages and documents, for whom its pages are for."""
