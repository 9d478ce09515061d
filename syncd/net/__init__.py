"""The way out: addresses that may be reached, pinned resolution, connections with deadlines, bounded answers."""
