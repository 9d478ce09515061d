"""The HTML that the platform writes into Markdown, as nodes and back: tables, images, details, aligned text."""
