"""What a comment is about: a page, a block of it, a cell of a table; it must be there when the comment is written."""

from typing import Any

import sqlalchemy as sa

from syncd.layout.page import frontmatter
from syncd.layout.richtext.reading import to_document
from syncd.model.comment import CommentCreate
from syncd.platform.comments.discussions import Discussion
from syncd.platform.http.failures import Failure
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import is_page
from syncd.platform.storage.blobs import Blobs


def require_target(connection: sa.Connection, blobs: Blobs, discussion: Discussion, new: CommentCreate) -> None:
    """Require that the page and node which a new comment is about exist in the discussion's content.

    Raises: Failure 404 when the page does not, 400 when the page has no such node.
    """
    if new.page is None:
        return
    node = revisions.open_revision(connection, discussion.space.id, discussion.revision).node(new.page)
    if node is None or not is_page(node):
        raise Failure(404, f"No page {new.page} in this content.")
    if new.node is None:
        return
    text = blobs.get(node.body).decode() if node.body else ""
    if new.node not in _collect_keys(to_document(frontmatter.split_after_title(text)[1]).wire()):
        raise Failure(400, f"node: page {new.page} has no node {new.node}")


def serialize_target(row: sa.Row[Any]) -> dict[str, Any]:
    """Return the `target` of a comment as the API shows it, from the comment's row."""
    members = {
        "page": row.page and {"id": row.page},
        "node": row.node and {"id": row.node},
        "tableCell": row.table_cell,
        "changeRequest": row.change_request,
        "review": row.review,
        "space": row.space,
        "revision": row.revision,
    }
    return {name: value for name, value in members.items() if value is not None}


def _collect_keys(document: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    pending: list[Any] = [document]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            found.update({str(here["key"])} if "key" in here else ())
            pending += here.values()
        elif isinstance(here, list):
            pending += here
    return found
