"""Search: an index of the main content of every space, brought up to date by whoever searches."""
