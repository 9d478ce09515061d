"""A directory in Git Sync layout: read as a space, and written from one."""
