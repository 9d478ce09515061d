"""The index of main content: brought up to where main content is by every search, so that no write has to wait for it.

Whatever moves main content (a merge, an import, a template) needs to know nothing of the index. A search first looks
whether the root that was indexed is the root that there is, and indexes the pages in between; those cost as much as
what changed. Spaces from before there was an index are no special case.
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Any

import sqlalchemy as sa

from syncd.layout.page.frontmatter import read_heading, split_after_title
from syncd.layout.richtext.outline import split_sections
from syncd.platform.database.tables import upsert
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import open_outline
from syncd.platform.revisions.tree import Node
from syncd.platform.schema.content import revisions, spaces
from syncd.platform.schema.search import indexed, pages
from syncd.platform.services.search import engine
from syncd.platform.services.search.words import split_words
from syncd.platform.storage.jobs import JobContext, JobHandler, enqueue_job
from syncd.platform.storage.storage import Storage

VERSION = "2"
"""Of the rules by which words are taken from a page; another one has everything indexed again."""
SECTIONS_MAX = 500
"""Sections of one page that are shown; the words of all of them are found."""
BODY_MAX = 2_000
"""Characters of a section that are shown."""
WORDS_MAX = 200_000
"""Characters of words of one page that are indexed; PostgreSQL has a limit near a million bytes."""

_AT_ONCE = 500
_AT_ONCE_CHARACTERS = 1_000_000
"""Pages and characters of their words in one transaction, so that other writers get their turn."""
_TRIES = 5
_locks = tuple(threading.Lock() for _ in range(16))


@dataclass(frozen=True)
class _IndexState:
    """Where one space is, and what the index has of it."""

    space: str
    root: bytes
    wanted: Mapping[str, Node]
    known: Mapping[str, str]


def refresh_index(storage: Storage, space_ids: Collection[str]) -> None:
    """Index what is not yet indexed of the main content of spaces."""
    for space in _find_stale_spaces(storage, space_ids):
        # Two that search at once: the second finds the work done.
        with _locks[hash(space) % len(_locks)]:
            for _ in range(_TRIES):
                if _index_space(storage, space):
                    break


def enqueue_indexing(connection: sa.Connection, storage: Storage, space: str) -> None:
    """Start a job that indexes a space which gets much content at once, so that no search has to wait for it."""
    enqueue_job(connection, storage, _KIND, {"space": space}, key=space)


def _find_stale_spaces(storage: Storage, space_ids: Collection[str]) -> list[str]:
    query = (
        sa.select(spaces.c.id)
        .join(revisions, revisions.c.id == spaces.c.revision)
        .outerjoin(indexed, indexed.c.space == spaces.c.id)
        .where(spaces.c.id.in_(list(space_ids)), sa.or_(indexed.c.root.is_(None), indexed.c.root != revisions.c.root))
    )
    with storage.read() as connection:
        return list(connection.scalars(query))


def _index_space(storage: Storage, space: str) -> bool:
    """Index one space; False when its main content moved meanwhile."""
    state = _read_state(storage, space)
    if state is None:
        return True
    stamps = {id: _compute_stamp(node) for id, node in state.wanted.items()}
    changed = [id for id, stamp in stamps.items() if state.known.get(id) != stamp]
    for rows in _build_row_batches(storage, state, changed, stamps):
        with storage.write() as connection:
            if not _is_current(connection, state):
                return False
            _replace_rows(connection, state.space, rows)
        # Who asks again goes on from here.
        check_time(even_written=True)
    with storage.write() as connection:
        if not _is_current(connection, state):
            return False
        _delete_rows(connection, state.space, (id for id in state.known if id not in state.wanted))
        upsert(connection, indexed, [{"space": state.space, "root": state.root}], key=("space",))
    return True


def _read_state(storage: Storage, space: str) -> _IndexState | None:
    with storage.read() as connection:
        root = connection.scalar(_select_main_root(space))
        if root is None or root == connection.scalar(sa.select(indexed.c.root).where(indexed.c.space == space)):
            return None
        outline = open_outline(connection, root)
        known = connection.execute(sa.select(pages.c.page, pages.c.stamp).where(pages.c.space == space)).all()
    wanted = {id: entry.node for id, entry in outline.entries.items() if entry.node.type == "document"}
    return _IndexState(space, root, wanted, {row.page: row.stamp for row in known})


def _build_row_batches(
    storage: Storage, state: _IndexState, ids: Iterable[str], stamps: Mapping[str, str]
) -> Iterator[list[dict[str, Any]]]:
    """What the index is to have of pages, in parts that are written at once."""
    rows: list[dict[str, Any]] = []
    size = 0
    for id in ids:
        rows.append(_build_row(storage, state, id, stamps[id]))
        size += len(rows[-1]["words"]["body"])
        if len(rows) == _AT_ONCE or size > _AT_ONCE_CHARACTERS:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _build_row(storage: Storage, state: _IndexState, id: str, stamp: str) -> dict[str, Any]:
    node = state.wanted[id]
    text = storage.blobs.get(node.body).decode() if node.body else ""
    parts = split_sections(split_after_title(text)[1])
    return {
        "row": {
            "space": state.space,
            "page": id,
            "stamp": stamp,
            "sections": [[part.id, part.title, part.body[:BODY_MAX]] for part in parts[:SECTIONS_MAX]],
        },
        "words": {
            "place": state.space,
            "title": _join_words(
                dict.fromkeys([node.title, str(node.fields.get("linkTitle", "")), read_heading(text) or ""])
            ),
            "headings": _join_words(part.title for part in parts),
            "body": _join_words([str(node.fields.get("description", "")), *(part.body for part in parts)]),
        },
    }


def _join_words(texts: Iterable[str]) -> str:
    def pieces() -> Iterator[str]:
        size = 0
        for text in texts:
            for word in split_words(text):
                size += len(word) + 1
                if size > WORDS_MAX:
                    return
                yield word

    return " ".join(pieces())


def _replace_rows(connection: sa.Connection, space: str, rows: list[dict[str, Any]]) -> None:
    _delete_rows(connection, space, (row["row"]["page"] for row in rows))
    insert_pages = pages.insert().returning(pages.c.id, sort_by_parameter_order=True)
    ids = connection.scalars(insert_pages, [row["row"] for row in rows]).all()
    engine.insert_words(connection, [{"id": id, **row["words"]} for id, row in zip(ids, rows, strict=True)])


def _delete_rows(connection: sa.Connection, space: str, page_ids: Iterable[str]) -> None:
    for ids in _split_batches(page_ids):
        connection.execute(pages.delete().where(pages.c.space == space, pages.c.page.in_(ids)))


def _split_batches(ids: Iterable[str]) -> Iterator[tuple[str, ...]]:
    rest = iter(ids)
    while batch := tuple(islice(rest, _AT_ONCE)):
        yield batch


def _is_current(connection: sa.Connection, state: _IndexState) -> bool:
    return bool(connection.scalar(_select_main_root(state.space)) == state.root)


def _select_main_root(space: str) -> sa.Select[Any]:
    return sa.select(revisions.c.root).join(spaces, spaces.c.revision == revisions.c.id).where(spaces.c.id == space)


def _compute_stamp(node: Node) -> str:
    described = (node.title, node.fields.get("linkTitle", ""), node.fields.get("description", ""))
    return f"{VERSION} {node.body} {' '.join(map(str, described))}"


def _run_index_job(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    refresh_index(context.storage, [payload["space"]])
    return None


_KIND = "index-space"
HANDLERS: Mapping[str, JobHandler] = {_KIND: _run_index_job}
"""The job that indexes a space ahead of its first search."""
