"""Tables: grids, cards, and what stands in their cells."""
