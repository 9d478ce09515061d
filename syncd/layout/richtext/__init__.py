"""Rich text: a page's Markdown as a tree of nodes and back, and what search needs to know of it."""
