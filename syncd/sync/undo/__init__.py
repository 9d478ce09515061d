"""Undo: take back what was pushed, or what was merged, by a proposal of the opposite."""
