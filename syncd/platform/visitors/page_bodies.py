"""The Markdown of pages as a visitor may read it: with every condition decided, and what it includes in its place."""

from contextlib import suppress
from dataclasses import replace

from syncd.layout.evaluation.visible import select_visible_text
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.page.includes import IncludesTooMuch
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.page_text import expand_page_text
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.visits import SiteVisit


def read_visible_body(storage: Storage, visit: SiteVisit, outline: Outline, entry: TreeEntry) -> str:
    """Return the Markdown of a page below its title, without what is not for the visitor.

    Shape: in a page that includes more than anybody could read, the tags stay as they are written.
    """
    text = storage.blobs.get(entry.node.body or "").decode(errors="replace")
    with suppress(IncludesTooMuch):
        text = expand_page_text(text, outline, entry, storage.blobs.get)
    return select_visible_text(split_after_title(text)[1], replace(read_variables(outline, entry), claims=visit.claims))
