"""Import a branch as main content, where an API writes no content and the operator chose this."""
