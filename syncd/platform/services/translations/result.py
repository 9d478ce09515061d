"""What the result space of a translation becomes: the source's tree in the other language, joined with people's work.

Three trees meet as in any merge: the translated tree of the last run, that of this run, and what is in the space. So
what people changed stays unless the source changed the same; what was removed from the source goes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from syncd.platform.change_requests import main_content
from syncd.platform.change_requests.merge import MergeSides, merge
from syncd.platform.revisions import revisions, tree
from syncd.platform.revisions.outline import Draft, Outline, open_outline
from syncd.platform.revisions.tree import Node
from syncd.platform.services.translations.pages import list_translatable
from syncd.platform.storage.storage import Storage


@dataclass(frozen=True)
class TranslationResult:
    """The result of a run: the root of the translated tree, and the draft of the result space's new content."""

    translated_root: bytes
    draft: Draft


@dataclass(frozen=True)
class ResultInputs:
    """The inputs of a run's result.

    Shape: `source` is translated; `pages` are the translations by page; `base` is the translated tree of the last
    run, `ours` what is in the result space now.
    """

    source: Outline
    pages: Mapping[str, sa.Row[Any]]
    base: Outline
    ours: Outline


def prepare_result(storage: Storage, sources: ResultInputs) -> TranslationResult:
    """Compute the result of a run; its nodes and texts are stored, but nothing refers to them yet."""
    base, ours = sources.base, sources.ours
    bare = _save_draft(storage, _translate_tree(sources.source, sources.pages), besides=base)
    if ours.root == base.root:
        return TranslationResult(bare.root, Draft(bare))
    theirs = _save_draft(storage, _drop_removed(bare, base, ours), besides=bare)
    merged = merge(MergeSides(base, ours, theirs), read=storage.blobs.get, write=storage.blobs.put)
    return TranslationResult(bare.root, merged.draft)


def record_result(
    storage: Storage,
    connection: sa.Connection,
    following: TranslationResult,
    *,
    main: revisions.RevisionRecord,
    bare: revisions.RevisionRecord,
) -> tuple[str, str]:
    """Make the outcome of a run the main content of the space that holds the translation.

    Return the ids of the revisions that hold the translated tree and the main content from now on; a tree that is as it
    was gets no new revision. Shape: `main` is the main content so far, `bare` the last translated tree, without edits.
    """
    if bare.root != following.translated_root:
        origin = revisions.RevisionOrigin(main.space, (bare.id,), type="computed")
        bare = revisions.insert_revision_of_tree(storage, connection, following.translated_root, origin)
    root, _ = following.draft.hash_tree()
    if root == main.root:
        return bare.id, main.id
    saved = bare
    if root != bare.root:
        origin = revisions.RevisionOrigin(main.space, (main.id, bare.id), type="computed")
        saved = revisions.insert_revision(storage, connection, following.draft, origin)
    main_content.set_main_content(storage, connection, saved)
    return bare.id, saved.id


def _translate_tree(source: Outline, pages: Mapping[str, sa.Row[Any]]) -> Draft:
    draft = Draft(source)
    for node in list_translatable(source):
        page = pages.get(node.id)
        if page is not None:
            fields = {**node.fields, **page.fields}
            draft.replace_node(Node(node.id, node.type, page.title, node.slug, fields, page.body, node.path))
    return draft


def _drop_removed(bare: Outline, base: Outline, ours: Outline) -> Draft:
    """The translated tree without the pages that people removed from the space, however their source changed since.

    One that holds a page which is still in the space stays, since the merge needs it to know where that one belongs.
    """
    draft = Draft(bare)
    needed: set[str] = set()
    # Parents come first in an outline, so that each is decided here after all that it holds.
    for id in reversed(list(bare.entries)):
        if id in ours.entries or id in needed:
            needed.add(bare.entries[id].parent)
        elif id in base.entries:
            draft.remove(id)
    return draft


def _save_draft(storage: Storage, draft: Draft, *, besides: Outline) -> Outline:
    """The outline of a draft, whose nodes are kept; those of another tree are kept already."""
    known = {entry.hash for entry in besides.entries.values()}
    root, rows = draft.hash_tree()
    fresh = [row for row in rows if row.hash not in known]
    if fresh:
        with storage.write() as connection:
            tree.insert_nodes(connection, fresh)
    with storage.read() as connection:
        return open_outline(connection, root)
