"""Storage: the database, the blobs, the secrets, and background jobs."""
