"""Documents of the API as HTML: a page, both sides of one that changed, and the words of people."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from syncd.layout.richtext.references import mark_broken_references
from syncd.model.document import Document
from syncd.web.app.block_diff import build_merged_nodes, build_side_nodes, compare_blocks
from syncd.web.app.line_diff import compare_lines, fold_lines
from syncd.web.app.values import PageDifference
from syncd.web.blocks import BlockContext, CodeMemory, Target, render_document
from syncd.web.blocks.members import Node, collect_words, read_kind
from syncd.web.pages.wording import find_text_direction

CHARACTERS_MAX = 400_000
"""Characters of both sides of a page that are compared as blocks; for more, there are its Markdown and either side."""
SOURCE_LINES_MAX = 5_000
"""Lines of a difference in Markdown that are shown."""

Annotate = Callable[[Mapping[str, Any]], Markup]
_memory = CodeMemory()


def render_page_body(document: Mapping[str, Any] | None, annotate: Annotate = lambda node: Markup()) -> Markup:
    """Return the document of a page, read with `dereferenced=true`, as HTML."""
    if document is None:
        return Markup()
    return _render(_list_nodes(document), _read_targets(document), annotate)


def render_words(document: Mapping[str, Any] | None, prefix: str) -> Markup:
    """Return what a person wrote as HTML; `prefix` begins the ids in it."""
    if document is None:
        return Markup()
    context = BlockContext(highlighted=_memory, prefix=f"{prefix}-")
    return render_document(Document(nodes=tuple(_list_nodes(document))), context).html


def render_difference(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, view: str, annotate: Annotate
) -> PageDifference:
    """Return the difference of a page of the API, None on a side where it is not there.

    Shape: for the view "source" both have their `markdown`, for all others the `document`, read with
    `dereferenced=true`; `annotate` is asked for what stands behind each block.
    """
    if view == "source":
        return _render_source(*(str((page or {}).get("markdown") or "") for page in (before, after)))
    documents = [(page or {}).get("document") or {} for page in (before, after)]
    left, right = map(_list_nodes, documents)
    targets = [target for document in documents for target in _read_targets(document)]
    # Of the words alone: forms for comments stand between the blocks, in English. Code counts for neither.
    words = escape(collect_words([node for node in left + right if read_kind(node) != "code"]))
    direction = find_text_direction("", words)
    if view in ("before", "after"):
        html = _render(left if view == "before" else right, targets, annotate)
        return PageDifference(view, html, direction=direction)
    if sum(len(collect_words(nodes)) for nodes in (left, right)) > CHARACTERS_MAX:
        cut = "This page is too long to be compared here. Look at either side of it, or at its Markdown."
        return PageDifference(view, cut=cut)
    changes = compare_blocks(left, right)
    nodes = build_merged_nodes(changes) if view == "changes" else build_side_nodes(changes)
    count = sum(not one.is_same for one in changes)
    return PageDifference(view, _render(nodes, targets, annotate), count=count, direction=direction)


def _render_source(before: str, after: str) -> PageDifference:
    lines = fold_lines(compare_lines(before, after))
    changed = [line.kind in ("added", "removed") for line in lines]
    count = sum(is_changed and not (at and changed[at - 1]) for at, is_changed in enumerate(changed))
    cut = ""
    if len(lines) > SOURCE_LINES_MAX:
        cut = f"These are the first {SOURCE_LINES_MAX} of {len(lines)} lines. The page itself has all: see After."
    return PageDifference("source", lines=lines[:SOURCE_LINES_MAX], count=count, cut=cut)


def _render(nodes: Sequence[Node], targets: Sequence[tuple[Node, Target]], annotate: Annotate) -> Markup:
    known = {_make_key(ref): target for ref, target in targets}
    context = BlockContext(resolve=lambda ref: known.get(_make_key(ref)), highlighted=_memory, annotate=annotate)
    return render_document(Document(nodes=tuple(nodes)), context).html


def _list_nodes(document: Mapping[str, Any]) -> list[Node]:
    """The blocks of a document, those references marked that lead nowhere, as on a published page."""
    held = document.get("nodes")
    nodes = [node for node in held if isinstance(node, dict)] if isinstance(held, list) else []
    mark_broken_references(nodes)
    return nodes


def _make_key(ref: Mapping[str, Any]) -> str:
    return repr(sorted((str(name), str(value)) for name, value in ref.items()))


def _read_targets(document: Mapping[str, Any]) -> list[tuple[Node, Target]]:
    """What the references of a document lead to, as the API says beside it."""
    meta = document.get("meta")
    listed = meta.get("targets") if isinstance(meta, dict) else None
    found = []
    for one in listed if isinstance(listed, list) else ():
        page, file = one.get("page"), one.get("file")
        if isinstance(page, dict):
            target = Target(page.get("urls", {}).get("app", ""), page.get("title", ""), page.get("description") or "")
        elif isinstance(file, dict):
            size = file.get("dimensions") or {}
            target = Target(
                file.get("downloadURL", ""),
                file.get("name", ""),
                size=file.get("size"),
                width=size.get("width"),
                height=size.get("height"),
                is_own=True,
            )
        else:
            continue
        found.append((one["ref"], target))
    return found
