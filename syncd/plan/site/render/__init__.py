"""Plans as people and machines read them."""
