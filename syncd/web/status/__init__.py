"""The status page of the service."""
