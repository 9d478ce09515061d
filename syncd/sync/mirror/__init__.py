"""Mirror: revisions of a space become commits."""
