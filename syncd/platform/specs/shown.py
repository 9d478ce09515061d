"""Which specifications pages show: a content token reads those that pages of its spaces name, and no others."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import sqlalchemy as sa

from syncd.layout.evaluation import Variables, evaluate_nodes
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_references
from syncd.platform.cache import Cache
from syncd.platform.http.time_limits import check_time
from syncd.platform.people.content_tokens import ContentGrant
from syncd.platform.revisions.outline import Outline, open_outline, read_variables
from syncd.platform.revisions.readable import select_readable
from syncd.platform.revisions.tree import TEXTS
from syncd.platform.schema.content import revisions, spaces
from syncd.platform.spaces.granted import find_granted_space, list_granted_revisions, match_granted_spaces
from syncd.platform.specs.sources import read_pages_source
from syncd.platform.storage.storage import Storage

_SPEC = re.compile(r"\bspec=")
_named: Cache[tuple[bytes, str], frozenset[str]] = Cache(10_000)


def may_read_spec(
    connection: sa.Connection, storage: Storage, grant: ContentGrant, spec: sa.Row[*tuple[Any, ...]]
) -> bool:
    """Return whether a content token reads a specification: a public one, or one that a text for its visitor shows, or
    that pages for its visitor are computed from.
    """
    claims = grant.claims or {}
    return spec.visibility == "public" or any(
        spec.slug in _find_named(storage, outline, claims)
        for outline in _list_outlines(connection, storage, grant, claims)
    )


def _list_outlines(
    connection: sa.Connection, storage: Storage, grant: ContentGrant, claims: Mapping[str, Any]
) -> Iterator[Outline]:
    main = sa.select(revisions.c.root).join(spaces, spaces.c.revision == revisions.c.id)
    published = connection.scalars(main.where(match_granted_spaces(connection, grant))).all()
    for root in chain(published, _list_previewed(connection, grant)):
        yield select_readable(open_outline(connection, root), claims, storage.blobs.get)


def _list_previewed(connection: sa.Connection, grant: ContentGrant) -> Iterator[bytes]:
    """The roots of what the token reads beside main content: what it was made for, as it was and as it is now."""
    space = find_granted_space(connection, grant, grant.space)
    if space is not None:
        ids = list_granted_revisions(connection, grant, grant.space, space.revision) - {space.revision}
        own = sa.select(revisions.c.root).where(revisions.c.space == grant.space, revisions.c.id.in_(ids))
        yield from connection.scalars(own).all()


def _find_named(storage: Storage, outline: Outline, claims: Mapping[str, Any]) -> frozenset[str]:
    key = (outline.root, json.dumps(claims, sort_keys=True))
    known = _named.get(key)
    if known is not None:
        return known
    found: set[str] = set()
    for id in outline.computed:
        if (source := read_pages_source(outline.entries[id].node.fields.get("computed"))) is not None:
            found.add(source.spec)
    for entry in outline.entries.values():
        if entry.node.type in TEXTS and entry.node.body:
            check_time()
            text = storage.blobs.get(entry.node.body).decode(errors="replace")
            if _SPEC.search(text):
                found.update(_list_specs(text, replace(read_variables(outline, entry), claims=claims)))
    return _named.put(key, frozenset(found))


def _list_specs(text: str, variables: Variables) -> Iterator[str]:
    nodes = list(evaluate_nodes(list(to_document(split_frontmatter(text)[1]).nodes), variables))
    for ref in find_references(nodes):
        if ref.get("kind") == "openapi":
            yield str(ref.get("spec"))
