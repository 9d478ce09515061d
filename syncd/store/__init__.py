"""What neither side remembers: where every page was last seen, what was about to happen, and what came of it."""
