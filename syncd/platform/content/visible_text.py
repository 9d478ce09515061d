"""The Markdown of pages as a visitor may read it: with every condition decided."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.evaluation.visible import select_visible_text
from syncd.layout.page.frontmatter import patch_frontmatter, split_after_title, split_frontmatter
from syncd.layout.page.includes import IncludesTooMuch
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.page_text import expand_page_text
from syncd.platform.revisions.tree import INCLUDES

Claims = Mapping[str, Any]


def read_visible_body(outline: Outline, entry: TreeEntry, read: Callable[[str], bytes], claims: Claims) -> str:
    """Return the Markdown of a page below its title, with what it includes; `read` returns a blob by its id.

    Shape: in a page that includes more than anybody could read, the tags stay as they are written.
    """
    text = read(entry.node.body or "").decode(errors="replace")
    with suppress(IncludesTooMuch):
        text = expand_page_text(text, outline, entry, read)
    return _select_visible_body(split_after_title(text)[1], outline, entry, claims)


def select_visible_page(text: str, outline: Outline, entry: TreeEntry, claims: Claims) -> str:
    """Return the text of a page or reusable content, with frontmatter that says nothing of its own condition."""
    head, body = (split_frontmatter if entry.parent == INCLUDES else split_after_title)(text)
    try:
        head = patch_frontmatter(head, {"if": None})
    except FileInvalid:
        head = split_frontmatter(head)[1]
    return head + _select_visible_body(body, outline, entry, claims)


def _select_visible_body(body: str, outline: Outline, entry: TreeEntry, claims: Claims) -> str:
    return select_visible_text(body, replace(read_variables(outline, entry), claims=claims))
