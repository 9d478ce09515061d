"""Git processes: how they are started, where the repository is, and the locks that others hold."""
