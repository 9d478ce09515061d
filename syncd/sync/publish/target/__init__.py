"""Where the service puts the site that it builds after each merge: a directory, or a branch of the Git remote."""
