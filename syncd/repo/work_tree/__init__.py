"""The files of a branch that is checked out."""
