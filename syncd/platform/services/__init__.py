"""Services on top of the content: search, ask, links, translations, PDF, specifications, conversations, directories."""
