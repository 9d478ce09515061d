"""`config`: check the configuration, and show what counts and where it comes from."""
