"""Many hosts: workers that share the repositories of a fleet through PostgreSQL, and their state through Git."""
