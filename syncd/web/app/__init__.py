"""Pages for editors and reviewers: a space, its history, its change requests, and what they change."""
