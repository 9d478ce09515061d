"""The status page of the service: who may look, which address shows what, and when it listens."""
