"""A revision as a renderer shows it: in the place of each computed page stand those that are computed from it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from syncd.platform.cache import Cache
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline
from syncd.platform.schema.specs import specs
from syncd.platform.specs.descriptions import read_description
from syncd.platform.specs.pages import SpecPage, count_pages, list_spec_pages
from syncd.platform.specs.replaced_pages import NewPage, replace_pages
from syncd.platform.specs.sources import BUILTIN_OPENAPI, PagesSource, read_pages_source
from syncd.platform.storage.storage import Storage

COMPUTED_MAX = 10_000
"""Pages that are computed for one revision; a computed page that would make it more is left out."""
SPECS_MAX = 1_000
"""Specifications that one revision names; the pages of others are left out."""
_REMEMBERED_PAGES = 100_000


@dataclass(frozen=True, slots=True)
class CurrentSpec:
    """The newest version of a specification that could be read. Shape: `content` is its blob."""

    id: str
    slug: str
    version: str
    content: str


AddTexts = Callable[[Storage, CurrentSpec, Sequence[NewPage]], Sequence[NewPage]]
"""Returns pages of a specification with a text each."""

_outlines: Cache[tuple[bytes, tuple[CurrentSpec, ...], str], Outline] = Cache(
    _REMEMBERED_PAGES, weigh=lambda outline: len(outline.entries)
)
_pages: Cache[tuple[str, PagesSource], tuple[SpecPage, ...]] = Cache(
    _REMEMBERED_PAGES, weigh=lambda pages: 1 + count_pages(pages)
)


def list_current_specs(connection: sa.Connection, organization: str, outline: Outline) -> tuple[CurrentSpec, ...]:
    """Return the specifications of an organization that computed pages of a tree name, in the order of their ids."""
    sources = _read_sources(outline)
    slugs = list(dict.fromkeys(source.spec for source in sources.values() if source is not None))[:SPECS_MAX]
    if not slugs:
        return ()
    query = sa.select(specs.c.id, specs.c.slug, specs.c.last_version, specs.c.last_content).order_by(specs.c.id)
    query = query.where(
        specs.c.organization == organization, specs.c.slug.in_(slugs), specs.c.last_content.is_not(None)
    )
    return tuple(CurrentSpec(*row) for row in connection.execute(query))


def find_computed(outline: Outline, found: tuple[CurrentSpec, ...]) -> Outline | None:
    """Return what `compute_pages` returned for the same arguments, None when nobody asked for it yet."""
    return _outlines.get((outline.root, found, ""))


def compute_pages(
    storage: Storage, outline: Outline, found: tuple[CurrentSpec, ...], add_texts: AddTexts | None = None
) -> Outline:
    """Return a tree with what is computed from specifications in the place of its computed pages.

    Shape: a computed page whose specification is not `found`, or that is computed from something else, is left out.
    With `add_texts`, the pages have a text, by which they are read as any other page.
    """
    # Texts are kept by the storage that they were written to.
    key = (outline.root, found, "" if add_texts is None else str(storage.data))
    known = _outlines.get(key)
    if known is not None:
        return known
    by_slug = {spec.slug: spec for spec in found}
    replaced: dict[str, Sequence[NewPage]] = {}
    left = COMPUTED_MAX
    for id, source in _read_sources(outline).items():
        replaced[id] = ()
        spec = by_slug.get(source.spec) if source is not None else None
        if source is None or spec is None:
            continue
        pages = _list_pages(storage, spec, source)
        count = count_pages(pages)
        if count <= left:
            left -= count
            made = [_make_page(id, spec, page) for page in pages]
            replaced[id] = made if add_texts is None else add_texts(storage, spec, made)
    return _outlines.put(key, replace_pages(outline, replaced))


def _read_sources(outline: Outline) -> dict[str, PagesSource | None]:
    return {id: read_pages_source(outline.entries[id].node.fields.get("computed")) for id in outline.computed}


def _list_pages(storage: Storage, spec: CurrentSpec, source: PagesSource) -> tuple[SpecPage, ...]:
    # What a description says stays when its slug changes hands, and does not depend on who names it.
    known = _pages.get((spec.content, source))
    if known is not None:
        return known
    check_time()
    return _pages.put(
        (spec.content, source), list_spec_pages(read_description(storage, spec.content).description, source)
    )


def _make_page(computed_id: str, spec: CurrentSpec, page: SpecPage) -> NewPage:
    id = _derive_id(computed_id, page.props)
    value = {"object": "openapi-spec", "id": spec.id, "slug": spec.slug, "lastVersion": spec.version}
    dependency = {"ref": {"kind": "openapi", "spec": spec.slug}, "value": value}
    document = {"type": BUILTIN_OPENAPI, "props": dict(page.props), "dependencies": {"spec": dependency}}
    below = tuple(_make_page(computed_id, spec, one) for one in page.pages)
    return NewPage(id, page.title, {**page.fields, "computed": document, "computedSeed": id}, below)


def _derive_id(computed_id: str, props: Mapping[str, Any]) -> str:
    """The id of a page: the same for as long as the tag or operation is there, whatever else the description says."""
    named = [computed_id, *(props.get(name) for name in ("doc", "page", "method"))]
    if named[1] in ("operations", "tag"):
        # The page of a tag stays the same one when the tag gets its first operation.
        named[1] = "tag"
    return sha256(json.dumps(named).encode()).hexdigest()[:20]
