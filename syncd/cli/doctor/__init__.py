"""`doctor`: look at all that a run stands on, and say what is wrong and what mends it."""
