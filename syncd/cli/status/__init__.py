"""`status`: where both sides stand, as this machine knows it."""
