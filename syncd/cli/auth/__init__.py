"""`auth`: save a token for a platform, show whose it is, and delete it."""
