"""Apply a template: its content is copied before the transaction, and saved as a revision inside of it.

The product's own catalogue is not public, so the id of a template is the id of a space whose main content is copied,
or one of the names in `builtin`. Two steps, since no content is written inside a transaction::

    prepared = prepare_template(storage, caller, space_id, use, onto=revision_id)
    with storage.write() as connection:
        saved = apply_template(storage, connection, prepared, by=caller.user_id)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from syncd.layout.page import frontmatter
from syncd.model.template import TemplateUse
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Draft, Outline
from syncd.platform.revisions.tree import PAGES, ROOT, SECTIONS, Node
from syncd.platform.schema.content import spaces
from syncd.platform.spaces import roles
from syncd.platform.spaces.spaces import require_space
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time
from syncd.platform.templates.builtin import TEMPLATES, TemplatePage
from syncd.platform.templates.content_copy import ContentCopy, CopiedNode


@dataclass(frozen=True)
class PreparedContent:
    """Content with a template in it, all texts kept; `onto` is the revision that it was made from."""

    space: str
    onto: str
    draft: Draft


@dataclass(frozen=True)
class _Template:
    pieces: tuple[CopiedNode, ...]
    shared: Mapping[str, Any] = field(default_factory=dict)


def prepare_template(
    storage: Storage, caller: Caller, space_id: str, use: TemplateUse, *, onto: str | None = None
) -> PreparedContent:
    """Return the content of a space's revision, by default the main content, with a copy of a template appended.

    Raises: Failure 404 for a space, revision or template that the caller cannot read; 400 for its parameters.
    """
    with storage.read() as connection:
        space = require_space(connection, caller, space_id)
        base = onto or str(space.revision)
        there = revisions.open_revision(connection, space_id, base)
        source = None if use.id in TEMPLATES else _open_template_space(connection, caller, space.organization, use.id)
    template = _build_builtin_template(TEMPLATES[use.id]) if source is None else _read_space_template(storage, source)
    draft = Draft(there)
    copying = ContentCopy(
        draft, storage.new_id, format_time(storage.now()), storage.blobs.put_all, use.params.content_refs
    )
    copying.copy(template.pieces)
    copying.copy_shared_values(template.shared)
    return PreparedContent(space_id, base, draft)


def apply_template(
    storage: Storage, connection: sa.Connection, prepared: PreparedContent, *, by: str | None, type: str = "edits"
) -> revisions.RevisionRecord:
    """Store prepared content as a new revision, and return that; the caller makes it the content of a space or request.

    A template that adds nothing makes no revision: the one that it was prepared onto is returned.
    """
    if prepared.draft.hash_tree()[0] == prepared.draft.base.root:
        return revisions.require_revision(connection, prepared.space, prepared.onto)
    origin = revisions.RevisionOrigin(prepared.space, (prepared.onto,), type=type, by=by)
    return revisions.insert_revision(storage, connection, prepared.draft, origin)


def _open_template_space(connection: sa.Connection, caller: Caller, organization: str, id: str) -> Outline:
    mine = roles.select_spaces(spaces.c.revision).where(
        spaces.c.id == id, spaces.c.organization == organization, spaces.c.deleted_at.is_(None)
    )
    row = connection.execute(mine, {"caller": caller.user_id}).one_or_none()
    if row is None or row.level is None:
        raise Failure(
            404, "No such template. A template is a space of this organization, or one of the platform's own."
        )
    return revisions.open_revision(connection, id, row.revision)


def _read_space_template(storage: Storage, outline: Outline) -> _Template:
    def pieces() -> Iterable[CopiedNode]:
        for id, entry in outline.entries.items():
            if id == ROOT or id in SECTIONS:
                continue
            node = entry.node
            written = node.type in ("document", "reusable-content") and node.body is not None
            yield CopiedNode(node, entry.parent, storage.blobs.get(node.body or "").decode() if written else None)

    return _Template(tuple(pieces()), outline.entries[ROOT].node.fields)


def _build_builtin_template(starts: Iterable[TemplatePage]) -> _Template:
    pieces: list[CopiedNode] = []
    pending = [(start, PAGES) for start in starts]
    while pending:
        start, parent = pending.pop(0)
        stem = start.path.removesuffix(".md").removesuffix("/README")
        slug = "" if start.path == "README.md" else stem.rpartition("/")[2]
        node = Node(start.path, "document", start.title, slug, {"createdAt": ""}, None, start.path)
        pieces.append(CopiedNode(node, parent, frontmatter.set_heading(start.text, start.title)))
        pending += [(below, start.path) for below in start.below]
    return _Template(tuple(pieces))
