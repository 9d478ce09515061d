"""`syncd platform`."""
