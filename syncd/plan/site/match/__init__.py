"""Which declared item is which on the platform."""
