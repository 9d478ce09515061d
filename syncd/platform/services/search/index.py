"""The index of main content: brought up to where main content is by every search, so that no write has to wait for it.

Whatever moves main content (a merge, an import, a template) needs to know nothing of the index. A search first looks
whether the root that was indexed is the root that there is, and indexes the pages in between; those cost as much as
what changed. Spaces from before there was an index are no special case.

Of a page, all that any reader may read of it is indexed, with what it includes and the values that it shows. A
condition is decided by nobody here, and an expression that depends on the reader stays as it is written: who shows what
was found looks at the page as its reader reads it. The stamp of an indexed page says whether that is needed.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from hashlib import sha256
from itertools import islice
from typing import Any, Literal

import sqlalchemy as sa

from syncd.layout.evaluation import Variables, evaluate_nodes
from syncd.layout.evaluation.visible import depends_on_reader
from syncd.layout.page.frontmatter import read_heading, split_after_title
from syncd.layout.page.includes import IncludesTooMuch, has_includes
from syncd.layout.richtext.outline import Section, split_nodes
from syncd.layout.richtext.reading import to_document
from syncd.model.words import split_words
from syncd.platform.database.tables import upsert
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline, TreeEntry, open_outline, read_variables
from syncd.platform.revisions.page_text import expand_page_text
from syncd.platform.revisions.tree import INCLUDES, ROOT
from syncd.platform.schema.content import revisions, spaces
from syncd.platform.schema.search import indexed, pages
from syncd.platform.services.search import engine
from syncd.platform.storage.jobs import JobContext, JobHandler, enqueue_job
from syncd.platform.storage.storage import Storage

VERSION = "3"
"""Of the rules by which words are taken from a page; another one has everything indexed again."""
SECTIONS_MAX = 500
"""Sections of one page that are shown; the words of all of them are found."""
BODY_MAX = 2_000
"""Characters of a section that are shown."""
WORDS_MAX = 200_000
"""Characters of words of one page that are indexed as often as they stand there; of what follows, each word once."""
WORDS_BYTES_MAX = 600_000
"""Bytes of words of one page that are indexed, each counted once; PostgreSQL has a limit near a million bytes."""

Reads = Literal["own", "shared", "reader"]
"""What the words of a page depend on: on its text alone, on what its space shares, too, or even on who reads it."""

_AT_ONCE = 500
_AT_ONCE_CHARACTERS = 1_000_000
"""Pages and characters of their words in one transaction, so that other writers get their turn."""
_TRIES = 5
_locks = tuple(threading.Lock() for _ in range(16))


@dataclass(frozen=True)
class IndexedPage:
    """A page as it is indexed: its text with what it includes, its sections, and what its words depend on."""

    text: str
    sections: tuple[Section, ...]
    reads: Reads


@dataclass(frozen=True)
class _UndecidedConditions(Variables):
    """Variables by which no condition is decided."""

    def evaluate_condition(self, condition: str) -> bool | None:
        return None


def read_indexed_page(outline: Outline, entry: TreeEntry, read: Callable[[str], bytes]) -> IndexedPage:
    """Return what is indexed of a page; `read` returns a blob by its id."""
    own = read(entry.node.body).decode(errors="replace") if entry.node.body else ""
    try:
        text = expand_page_text(own, outline, entry, read)
    except IncludesTooMuch:
        text = own
    nodes = list(to_document(split_after_title(text)[1]).nodes)
    if not depends_on_reader(text):
        return IndexedPage(text, split_nodes(nodes), "shared" if has_includes(own) else "own")
    variables = read_variables(outline, entry)
    filled = evaluate_nodes(nodes, _UndecidedConditions(variables.scopes))
    return IndexedPage(text, split_nodes(list(filled)), "reader")


@dataclass(frozen=True)
class IndexStamps:
    """The stamps of the indexed pages of a tree: with the same stamp, a page has the same words in the index."""

    outline: Outline

    def compute_stamp(self, id: str, reads: Reads) -> str:
        """Return the stamp of a page whose words depend on what `reads` says."""
        node = self.outline.entries[id].node
        described = (node.title, node.fields.get("linkTitle", ""), node.fields.get("description", ""))
        shared = "" if reads == "own" else f"{self._shared} {node.fields.get('variables', {})!r} "
        return f"{VERSION} {node.body} {reads} {shared}{' '.join(map(str, described))}"

    def is_known(self, id: str, stamp: str) -> bool:
        """Return whether a page that has this stamp in the index is indexed as it is."""
        return any(stamp == self.compute_stamp(id, reads) for reads in ("own", "shared", "reader"))

    def list_unknown(self, known: Mapping[str, str]) -> list[str]:
        """Return the pages that are not indexed as they are; `known` are the stamps in the index by pages' ids."""
        documents = (id for id, entry in self.outline.entries.items() if entry.node.type == "document")
        return [id for id in documents if not self.is_known(id, known.get(id, ""))]

    def is_for_everybody(self, id: str, stamp: str) -> bool:
        """Return whether a page that has this stamp has the words in the index that every reader of the tree reads."""
        return any(stamp == self.compute_stamp(id, reads) for reads in ("own", "shared"))

    @cached_property
    def _shared(self) -> str:
        """A hash of all that pages of the space share: what they may include, and the space's variables."""
        entries = self.outline.entries
        included = [(entries[id].node.path, entries[id].node.body) for id in self.outline.order.get(INCLUDES, ())]
        found = repr((included, entries[ROOT].node.fields.get("variables", {})))
        return sha256(found.encode(errors="surrogatepass")).hexdigest()[:32]


# Made once: to make a statement costs more than to carry it out.
_STALE = (
    sa.select(spaces.c.id)
    .join(revisions, revisions.c.id == spaces.c.revision)
    .outerjoin(indexed, indexed.c.space == spaces.c.id)
    .where(
        spaces.c.id.in_(sa.bindparam("spaces", expanding=True)),
        sa.or_(indexed.c.root.is_(None), indexed.c.root != revisions.c.root),
    )
)


@dataclass(frozen=True)
class _IndexState:
    """Where one space is, and what the index has of it."""

    space: str
    outline: Outline
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
    with storage.read() as connection:
        return list(connection.scalars(_STALE, {"spaces": list(space_ids)}))


def _index_space(storage: Storage, space: str) -> bool:
    """Index one space; False when its main content moved meanwhile."""
    state = _read_state(storage, space)
    if state is None:
        return True
    stamps = IndexStamps(state.outline)
    for rows in _build_row_batches(storage, state, stamps.list_unknown(state.known), stamps):
        with storage.write() as connection:
            if not _is_current(connection, state):
                return False
            _replace_rows(connection, state.space, rows)
        # Who asks again goes on from here.
        check_time(even_written=True)
    with storage.write() as connection:
        if not _is_current(connection, state):
            return False
        entries = state.outline.entries
        gone = (id for id in state.known if id not in entries or entries[id].node.type != "document")
        _delete_rows(connection, state.space, gone)
        upsert(connection, indexed, [{"space": state.space, "root": state.outline.root}], key=("space",))
    return True


def _read_state(storage: Storage, space: str) -> _IndexState | None:
    with storage.read() as connection:
        root = connection.scalar(_select_main_root(space))
        if root is None or root == connection.scalar(sa.select(indexed.c.root).where(indexed.c.space == space)):
            return None
        outline = open_outline(connection, root)
        return _IndexState(space, outline, read_stamps(connection, space))


def read_stamps(connection: sa.Connection, space: str) -> dict[str, str]:
    """Return the stamps of the indexed pages of a space, by the pages' ids."""
    rows = connection.execute(sa.select(pages.c.page, pages.c.stamp).where(pages.c.space == space))
    return {row.page: row.stamp for row in rows}


def _build_row_batches(
    storage: Storage, state: _IndexState, ids: Iterable[str], stamps: IndexStamps
) -> Iterator[list[dict[str, Any]]]:
    """What the index is to have of pages, in parts that are written at once."""
    rows: list[dict[str, Any]] = []
    size = 0
    for id in ids:
        rows.append(_build_row(storage, state, id, stamps))
        size += len(rows[-1]["words"]["body"])
        if len(rows) == _AT_ONCE or size > _AT_ONCE_CHARACTERS:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _build_row(storage: Storage, state: _IndexState, id: str, stamps: IndexStamps) -> dict[str, Any]:
    entry = state.outline.entries[id]
    node = entry.node
    page = read_indexed_page(state.outline, entry, storage.blobs.get)
    return {
        "row": {
            "space": state.space,
            "page": id,
            "stamp": stamps.compute_stamp(id, page.reads),
            "sections": [[part.id, part.title, part.body[:BODY_MAX]] for part in page.sections[:SECTIONS_MAX]],
        },
        "words": {
            "place": state.space,
            "title": _join_words(
                dict.fromkeys([node.title, str(node.fields.get("linkTitle", "")), read_heading(page.text) or ""])
            ),
            "headings": _join_words(part.title for part in page.sections),
            "body": _join_words([str(node.fields.get("description", "")), *(part.body for part in page.sections)]),
        },
    }


def _join_words(texts: Iterable[str]) -> str:
    """The words of texts in order; behind very many of them, only those that were not there before."""

    def pieces() -> Iterator[str]:
        known: set[str] = set()
        size = distinct = 0
        for text in texts:
            for word in split_words(text):
                size += len(word) + 1
                if word in known:
                    if size <= WORDS_MAX:
                        yield word
                    continue
                distinct += len(word.encode())
                if distinct > WORDS_BYTES_MAX:
                    return
                known.add(word)
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
    return bool(connection.scalar(_select_main_root(state.space)) == state.outline.root)


def _select_main_root(space: str) -> sa.Select[Any]:
    return sa.select(revisions.c.root).join(spaces, spaces.c.revision == revisions.c.id).where(spaces.c.id == space)


def _run_index_job(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    refresh_index(context.storage, [payload["space"]])
    return None


_KIND = "index-space"
HANDLERS: Mapping[str, JobHandler] = {_KIND: _run_index_job}
"""The job that indexes a space ahead of its first search."""
