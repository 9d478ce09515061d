"""Storage: the database, the blobs, the secrets, and work that is done later."""
