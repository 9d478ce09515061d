"""Another repository: a Git host, its address and what it asks for."""
