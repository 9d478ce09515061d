"""Review: what becomes of a change request once it is open."""
