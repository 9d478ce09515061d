"""A document that a page is written with, as the page's text: the title, which no document has, stands before it."""

import copy

from syncd.layout.page.frontmatter import read_heading, set_heading, split_after_title, split_emoji
from syncd.layout.richtext.html.labels import add_labels
from syncd.layout.richtext.nodes import Node, collect_text
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_file_cells, find_references
from syncd.layout.richtext.required_nodes import restore_prompts
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document
from syncd.platform.change_requests.write import replace_body
from syncd.platform.revisions.outline import Draft
from syncd.platform.revisions.targets import build_address, build_label, find_target_id, is_absolute


def render_new_text(document: Document, *, title: str | None, known: Draft, space: str) -> str:
    """Return the text of a new page from its document.

    Shape: with a title the text begins with it; without one, the heading that begins the document is the title.
    """
    if title is None:
        return to_markdown(_replace_references(document, known, space))
    return render_changed_text(document, former=set_heading("", title), title=title, known=known, space=space)


def render_changed_text(document: Document, *, former: str, title: str, known: Draft, space: str) -> str:
    """Return the text of a page after its document was replaced; `former` is its text before.

    Shape: frontmatter and title stay as they are written. A heading that repeats the title above the document is not
    written twice, unless the page has it twice. The ids that `known` has are ids of the page's `space`.
    """
    resolved = _replace_references(document, known, space)
    if resolved.nodes and _is_title(resolved.nodes[0], former, title) and not _has_repeated_title(former, title):
        resolved = resolved.model_copy(update={"nodes": resolved.nodes[1:]})
    body = to_markdown(resolved).lstrip("\r\n")
    text = replace_body(former, body)
    if read_heading(former) is None and read_heading(text) is not None:
        # A page whose title stands in no heading would take this one for it.
        text = replace_body(former, f"{set_heading('', title)}\n{body}")
    return text


def _replace_references(document: Document, known: Draft, space: str) -> Document:
    """The document with an address in the place of every reference that a text has one for."""
    nodes = copy.deepcopy(document.nodes)
    restore_prompts(list(nodes))
    for cell in find_file_cells(nodes):
        cell[:] = map(_build_file_reference, cell)
    add_labels(nodes, lambda ref: _find_label(ref, known))
    for ref in find_references(nodes):
        if ref.get("space") == space and ref.get("kind") != "space":
            del ref["space"]
        if (address := build_address(ref, known)) is not None:
            ref.clear()
            ref.update({"kind": "url", "url": address})
    return document.model_copy(update={"nodes": nodes})


def _find_label(ref: Node, known: Draft) -> str | None:
    id = find_target_id(ref)
    return build_label(ref, known.node(id).path if id is not None and id in known else None)


def _build_file_reference(value: object) -> object:
    """The reference that a value of a cell of files stands for: an address, else the id of a file."""
    if not isinstance(value, str):
        return value
    return {"kind": "url", "url": value} if is_absolute(value) else {"kind": "file", "file": value}


def _has_repeated_title(text: str, title: str) -> bool:
    nodes = to_document(split_after_title(text)[1]).nodes
    return bool(nodes) and read_heading(text) is not None and _is_title(nodes[0], text, title)


def _is_title(node: Node, text: str, title: str) -> bool:
    words = " ".join(collect_text(node).split())
    said = read_heading(text)
    return node.get("type") == "heading-1" and (words == said or split_emoji(words)[1] == title)
