"""`site build`: a static site from Git alone."""
