"""Which declared thing is which on the platform."""
