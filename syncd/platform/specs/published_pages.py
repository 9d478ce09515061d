"""A tree as published sites show it: the pages of specifications have texts, as a writer would have put them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import sqlalchemy as sa

from syncd.layout.page.frontmatter import set_heading
from syncd.layout.richtext.nodes import make_fragment, make_paragraph, make_text
from syncd.layout.richtext.writing import to_markdown
from syncd.model.computed_document import OpenAPISource
from syncd.model.document import Document
from syncd.platform.cache import Cache
from syncd.platform.http.time_limits import check_time, extend_time
from syncd.platform.revisions.outline import Outline
from syncd.platform.specs.computed_pages import CurrentSpec, compute_pages, list_current_specs
from syncd.platform.specs.descriptions import read_description
from syncd.platform.specs.documents import build_spec_nodes
from syncd.platform.specs.operations import SpecContent
from syncd.platform.specs.replaced_pages import NewPage
from syncd.platform.storage.storage import Storage

_COMPUTED = ("computed", "computedSeed")
"""Members of a page that say how it is computed."""
_BATCH = 1_000
"""Pages whose texts are stored together: each time, the disk is waited for in up to 256 directories."""
_bodies: Cache[tuple[str, str, str], str] = Cache(100_000)


def complete_outline(storage: Storage, connection: sa.Connection, organization: str, outline: Outline) -> Outline:
    """Return a tree of an organization as its published sites show it: with the pages of its specifications."""
    return compute_pages(storage, outline, list_current_specs(connection, organization, outline), _add_texts)


def _add_texts(storage: Storage, spec: CurrentSpec, pages: Sequence[NewPage]) -> list[NewPage]:
    content = read_description(storage, spec.content)
    bodies: dict[str, str] = {}
    listed = iter(list(_walk(pages)))
    while batch := list(islice(listed, _BATCH)):
        keys = [_make_key(storage, spec, page) for page in batch]
        known = [_bodies.get(key) for key in keys]
        missing = [number for number, body in enumerate(known) if body is None]
        if missing:
            # Texts of 10,000 pages take longer than a page may. They are made once, and the other requests find them.
            extend_time()
        # A request that takes too long is stopped between two batches: the next one goes on from there.
        check_time()
        texts = [_write_text(spec.slug, content, batch[number]).encode(errors="replace") for number in missing]
        for number, body in zip(missing, storage.blobs.put_all(texts), strict=True):
            known[number] = _bodies.put(keys[number], body)
        bodies |= {page.id: body for page, body in zip(batch, known, strict=True) if body is not None}

    def complete(page: NewPage) -> NewPage:
        fields = {name: value for name, value in page.fields.items() if name not in _COMPUTED}
        return replace(page, fields=fields, body=bodies[page.id], pages=tuple(map(complete, page.pages)))

    return [complete(page) for page in pages]


def _make_key(storage: Storage, spec: CurrentSpec, page: NewPage) -> tuple[str, str, str]:
    """All that the text of a page depends on, and where it is kept."""
    said = json.dumps([spec.slug, page.title, page.fields["computed"]["props"]])
    return str(storage.data), spec.content, said


def _walk(pages: Sequence[NewPage]) -> Iterator[NewPage]:
    for page in pages:
        yield page
        yield from _walk(page.pages)


def _write_text(slug: str, content: SpecContent, page: NewPage) -> str:
    """The Markdown of a page: what its document says.

    An operation has its summary as caption, which a search finds and somebody without the specification reads.
    """
    source = OpenAPISource.model_validate(page.fields["computed"])
    nodes = build_spec_nodes(slug, content, source.props) or []
    for node in nodes:
        data = node.get("data") or {}
        name = str(data.get("path") or data.get("name") or "")
        if name and (summary := content.summaries.get((name, str(data.get("method"))))):
            node["fragments"] = [make_fragment("caption", [make_paragraph([make_text(summary)])])]
    body = to_markdown(Document.model_validate({"object": "document", "data": {}, "nodes": nodes}))
    return set_heading(f"\n{body}", page.title)
