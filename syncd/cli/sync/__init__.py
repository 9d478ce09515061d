"""Commands of two-way sync."""
