"""The grammar of Markdown, as far as addresses and tables of contents need it."""
