"""Inline content, the text of one block: Markdown and HTML as inline nodes, and back."""
