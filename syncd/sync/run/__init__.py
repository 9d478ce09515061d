"""One run of one repository, every flow in its order."""
