"""`clone` and `init`: what binds a repository to spaces."""
