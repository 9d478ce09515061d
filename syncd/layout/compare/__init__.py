"""Compare and join two forms of one page."""
