"""Read a site, and the files that declare it."""
