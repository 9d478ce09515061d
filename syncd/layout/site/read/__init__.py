"""Read a site file into what it declares."""
