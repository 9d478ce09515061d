"""Rich text: a page's Markdown as a tree of nodes and back, and what search needs to know of it."""

from syncd.layout.richtext.outline import Heading, Section, extract_plain_text, find_headings, split_sections
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown

__all__ = ["Heading", "Section", "extract_plain_text", "find_headings", "split_sections", "to_document", "to_markdown"]
