"""A page's file: frontmatter, title and links."""
