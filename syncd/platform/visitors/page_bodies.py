"""The Markdown of pages as a visitor may read it: with every condition decided, and what it includes in its place."""

import re
from dataclasses import replace

from syncd.layout.evaluation import evaluate_nodes
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.platform.http.downloads import DownloadSigner
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.page_text import PageTexts
from syncd.platform.revisions.rendering import RenderContext
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.visits import SiteVisit

_DEPENDENT = re.compile(r"\{%-?\s{0,100}if\b|\{\{|class=\"expression\"")
"""What in a text may be another for another reader."""


def depends_on_reader(text: str) -> bool:
    """Return whether a text may say something else to another reader."""
    return _DEPENDENT.search(text) is not None


def read_visible_body(storage: Storage, visit: SiteVisit, outline: Outline, entry: TreeEntry) -> str:
    """Return the Markdown of a page below its title, without what is not for the visitor. Raises: Failure 413."""
    texts = PageTexts(outline, RenderContext("", DownloadSigner("", b"", 0)), storage.blobs.get)
    body = split_after_title(texts.render(entry, "false", "reusable-contents"))[1]
    if not depends_on_reader(body):
        return body
    document = to_document(body)
    variables = replace(read_variables(outline, entry), claims=visit.claims)
    shown = tuple(evaluate_nodes(list(document.nodes), variables))
    return to_markdown(document.model_copy(update={"nodes": shown}))
