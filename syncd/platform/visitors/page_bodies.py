"""The Markdown of pages as a visitor may read it: with every condition decided, and what it includes in its place."""

from dataclasses import replace

from syncd.layout.evaluation.visible import select_visible_text
from syncd.layout.page.frontmatter import split_after_title
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.page_text import PageTexts
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.visits import SiteVisit


def read_visible_body(storage: Storage, visit: SiteVisit, outline: Outline, entry: TreeEntry) -> str:
    """Return the Markdown of a page below its title, without what is not for the visitor. Raises: Failure 413."""
    texts = PageTexts(outline, RenderContext("", DownloadSigner("", b"", 0)), storage.blobs.get)
    body = split_after_title(texts.render(entry, "false", "reusable-contents"))[1]
    return select_visible_text(body, replace(read_variables(outline, entry), claims=visit.claims))
