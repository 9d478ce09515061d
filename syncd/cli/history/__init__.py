"""`log` and `undo`: what was done, and how it is taken back."""
