"""Outgoing HTTP: addresses that may be reached, pinned resolution, connections with deadlines, bounded answers."""
