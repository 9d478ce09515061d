"""What visitors get: who they are, which site, space and page their address names, and the pages that they read."""
