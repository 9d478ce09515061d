"""Full-text search on each database; values are always bound as parameters, never part of a statement."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from syncd.platform.schema.content import spaces as all_spaces
from syncd.platform.schema.search import pages

MATCHES_MAX = 500
"""Pages that one search finds, the best first: a word that is everywhere must not cost as much as everything."""

_COLUMNS = ("title", "headings", "body")
"""In the order of their weight: a page whose title has all words stands before one whose headings do."""
_WEIGHTS = "ABC"
_RANK_BASE = 1e6
"""Is added to a rank so that it sorts as text."""
_WRITE = {
    "sqlite": sa.text(
        "INSERT INTO search_words (rowid, place, title, headings, body) VALUES (:id, :place, :title, :headings, :body)"
    ),
    "postgresql": sa.text(
        "INSERT INTO search_words (id, words) VALUES (:id, setweight(to_tsvector('simple', :title), 'A') || "
        "setweight(to_tsvector('simple', :headings), 'B') || setweight(to_tsvector('simple', :body), 'C'))"
    ),
}
_FIND = {
    "sqlite": sa.text(
        "SELECT rowid AS id, bm25(search_words, 0, 10, 4, 1) AS rank FROM search_words WHERE search_words MATCH :query"
    ),
    "postgresql": sa.text(
        "SELECT id, -ts_rank('{0, 0.1, 0.4, 1}', words, asked) AS rank "
        "FROM search_words, to_tsquery('simple', :query) AS asked WHERE words @@ asked"
    ),
}
_SPACES: sa.BindParameter[Any] = sa.bindparam("spaces", expanding=True)
_OTHER_SPACE = sa.select(all_spaces.c.id).where(all_spaces.c.id.not_in(_SPACES)).limit(1)


class SearchMatch(NamedTuple):
    """A page that has all terms. Shape: `key` orders matches as text, the best first, and is unique."""

    space: str
    page: str
    key: str

    @property
    def score(self) -> float:
        """How well the page matches; higher is better, without a bound."""
        tier, rank = int(self.key[0]), float(self.key[1:18])
        return round((len(_COLUMNS) - tier) * 100 + max(0.0, _RANK_BASE - rank), 6)


def insert_words(connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store the words of pages. Shape: a row has `id`, `place`, and the folded words of `title`, `headings` and
    `body`.
    """
    if rows:
        connection.execute(_WRITE[connection.dialect.name], list(rows))


def find_matches(connection: sa.Connection, terms: Sequence[str], spaces: Collection[str]) -> list[SearchMatch]:
    """Return the pages of spaces that have all terms; those with them in the title come first, then in headings."""
    if not terms or not spaces:
        return []
    best: dict[tuple[str, str], SearchMatch] = {}
    are_all = not _has_other_space(connection, spaces)
    for tier in range(len(_COLUMNS)):
        for space, page, rank in _query_tier(connection, terms, spaces, tier, are_all=are_all):
            if (space, page) not in best:
                key = f"{tier}{max(0.0, _RANK_BASE + rank):017.9f} {space} {page}"
                best[space, page] = SearchMatch(space, page, key)
        if len(best) >= MATCHES_MAX:
            break
    return sorted(best.values(), key=lambda match: match.key)


def _has_other_space(connection: sa.Connection, spaces: Collection[str]) -> bool:
    return connection.scalar(_OTHER_SPACE, {"spaces": list(spaces)}) is not None


def _query_tier(
    connection: sa.Connection, terms: Sequence[str], spaces: Collection[str], tier: int, *, are_all: bool
) -> Sequence[Any]:
    sqlite, named = connection.dialect.name == "sqlite", "" if are_all or len(spaces) > 1 else next(iter(spaces))
    query = _build_fts5_query(terms, named, tier) if sqlite else _build_tsquery(terms, tier)
    # All that is found lies in these spaces: the rows of the best pages are enough.
    select = _select_matches(connection.dialect.name, are_enough=are_all or (sqlite and bool(named)))
    return connection.execute(select, {"query": query, "spaces": list(spaces)}).all()


@cache
def _select_matches(dialect: str, *, are_enough: bool) -> sa.Select[Any]:
    """The query of the best matches in spaces; with `are_enough` the best of all are looked up, and no others."""
    found = _FIND[dialect].columns(id=sa.Integer, rank=sa.Float).subquery("found")
    if are_enough:
        ids = sa.select(found.c.id, found.c.rank).order_by(found.c.rank, found.c.id)
        found = ids.limit(MATCHES_MAX).subquery("best")
    return (
        sa.select(pages.c.space, pages.c.page, found.c.rank)
        .join(found, found.c.id == pages.c.id)
        .where(pages.c.space.in_(_SPACES))
        .order_by(found.c.rank, pages.c.id)
        .limit(MATCHES_MAX)
    )


def _build_fts5_query(terms: Sequence[str], space: str, tier: int) -> str:
    *whole, last = terms
    words = " AND ".join([*(f'"{term}"' for term in whole), f'"{last}" *'])
    where = f"{{{' '.join(_COLUMNS[: tier + 1])}}} : ({words})"
    # One space among many on a platform is found by a word, too, not by looking at every page that has the others.
    return f'{where} AND place : "{space}"' if space else where


def _build_tsquery(terms: Sequence[str], tier: int) -> str:
    *whole, last = terms
    weights = _WEIGHTS[: tier + 1]
    return " & ".join([*(f"'{term}':{weights}" for term in whole), f"'{last}':*{weights}"])
