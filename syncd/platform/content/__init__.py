"""Content of a space, a change request or a revision: read, written and compared."""
