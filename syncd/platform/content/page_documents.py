"""Documents of pages: a text as rich text, with references to what is in its revision, as a reader asks for it.

The heading that begins a page is its title and no part of its document. Addresses are resolved where the text stands:
what a page includes is a text of its own, whose addresses and anchors are its own, too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from syncd.layout.evaluation import evaluate_nodes
from syncd.layout.page.annotations import annotate_footnotes
from syncd.layout.page.frontmatter import split_after_title, split_frontmatter
from syncd.layout.page.includes import CHARACTERS_MAX, DEPTH_MAX, INCLUDES_MAX
from syncd.layout.richtext.anchors import add_anchors
from syncd.layout.richtext.html.labels import add_labels, drop_labels
from syncd.layout.richtext.nodes import prefix_keys, walk_nodes
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.references import find_file_cells, find_references, find_tables, has_data, read_references
from syncd.layout.richtext.required_nodes import add_required_nodes, find_prompts
from syncd.platform.content.view import RevisionView, find_main_content
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.other_spaces import OtherSpaces
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.page_text import Dereferenced, Evaluated
from syncd.platform.revisions.rendering import (
    RenderContext,
    build_file_members,
    build_page_members,
    build_reusable_members,
    encode_json,
)
from syncd.platform.revisions.targets import TargetResolver, build_label, find_target_id
from syncd.platform.revisions.tree import FILES, INCLUDES

DocumentNode = dict[str, Any]


def find_document_body(text: str, entry: TreeEntry) -> str:
    """Return the part of a text that its document is made of: a page's title is no part of it."""
    return (split_frontmatter if entry.parent == INCLUDES else split_after_title)(text)[1]


@dataclass
class PageDocuments:
    """Documents of one revision: `read` returns a blob by its id, `open_space` the main content of another space."""

    outline: Outline
    context: RenderContext
    read: Callable[[str], bytes]
    open_space: Callable[[str], Outline | None] = lambda space: None
    claims: Mapping[str, Any] | None = None
    """Of the visitor who reads; with them, every condition is decided, whatever is asked for."""
    is_for_api: bool = True
    """Whether each block gets the nodes that the API requires of it."""
    has_annotations: bool = False
    """Whether footnotes are annotations: a renderer of the product knows no others, but who writes documents does."""
    characters: int = 0
    """Of all texts that were rendered, includes among them."""
    _targets: TargetResolver = field(init=False)
    _others: OtherSpaces = field(init=False)
    _includes_left: int = INCLUDES_MAX
    _characters_left: int = CHARACTERS_MAX

    def __post_init__(self) -> None:
        self._targets, self._others = TargetResolver(self.outline), OtherSpaces(self.context.app, self.open_space)

    def render(
        self, entry: TreeEntry, evaluated: Evaluated = "false", dereferenced: Dereferenced = "false"
    ) -> DocumentNode:
        """Return the document of a page or reusable content as JSON.

        Raises: Failure 413 when it includes too much.
        """
        self._includes_left, self._characters_left = INCLUDES_MAX, CHARACTERS_MAX
        nodes = self._build_nodes(self.read(entry.node.body or "").decode(), entry)
        if dereferenced != "false":
            nodes = add_anchors(list(self._expand_includes(nodes, (entry.node.id,))))
        if evaluated != "false" or self.claims is not None:
            variables = replace(read_variables(self.outline, entry), claims=self.claims)
            nodes = list(evaluate_nodes(nodes, variables))
        walked = list(walk_nodes(nodes))
        if self.is_for_api:
            add_required_nodes(walked)
        meta = {"meta": {"targets": self._list_targets(nodes)}} if dereferenced == "true" else {}
        for cell in find_file_cells(find_tables(walked)):
            cell[:] = map(_find_file_value, cell)
        return {"object": "document", "data": {}, "nodes": nodes} | meta

    def _build_nodes(self, text: str, entry: TreeEntry) -> list[DocumentNode]:
        self.characters += len(text)
        nodes = list(to_document(find_document_body(text, entry)).nodes)
        if self.has_annotations:
            nodes = annotate_footnotes(nodes)
        walked = list(walk_nodes(nodes))
        add_labels(find_tables(walked))
        # What a prompt holds is shown as it is written, addresses included.
        written = [node["nodes"] for node in find_prompts(walked)] if self.is_for_api else []
        kept = {id(ref) for each in written for ref in find_references(each)}
        for node in filter(has_data, walked):
            for ref in read_references(node):
                if id(ref) not in kept and ref.get("kind") == "url" and isinstance(address := ref.get("url"), str):
                    found = self._targets.build_content_ref(address, entry, app=self.context.app)
                    if found["kind"] == "url":
                        found = self._others.find_content_ref(found["url"]) or found
                    ref.clear()
                    ref.update(found)
        drop_labels(find_tables(walked), self._find_label)
        return nodes

    def _find_label(self, ref: DocumentNode) -> str | None:
        entry = self.outline.entries.get(find_target_id(ref) or "")
        return build_label(ref, entry.node.path if entry is not None else None)

    def _list_targets(self, nodes: list[DocumentNode]) -> list[DocumentNode]:
        """What the references of a document lead to in the space, each once, in reading order."""
        refs = {encode_json(ref): ref for ref in find_references(nodes)}
        shown = ((ref, self._build_target(ref)) for ref in refs.values())
        return [{"ref": ref, **target} for ref, target in shown if target is not None]

    def _build_target(self, ref: DocumentNode) -> DocumentNode | None:
        entry = self.outline.entries.get(find_target_id(ref) or "")
        if entry is None:
            return None
        if entry.parent == FILES:
            return {"file": build_file_members(entry, self.context)}
        if entry.parent == INCLUDES:
            return {"reusableContent": build_reusable_members(entry, self.context)}
        return {"page": build_page_members(entry, self.context)}

    def _expand_includes(self, nodes: list[DocumentNode], trail: tuple[str, ...]) -> Iterator[DocumentNode]:
        """The nodes with what they include in the place of each reference to it."""
        for node in nodes:
            if node.get("type") == "reusable-content" and (included := self._open_include(node, trail)) is not None:
                yield from included
                continue
            for name in ("nodes", "fragments"):
                if isinstance(included := node.get(name), list) and included and "leaves" not in included[0]:
                    node[name] = list(self._expand_includes(included, trail))
            yield node

    def _open_include(self, node: DocumentNode, trail: tuple[str, ...]) -> list[DocumentNode] | None:
        ref = node.get("data", {}).get("ref") or {}
        entry = self.outline.entries.get(str(ref.get("reusableContent")))
        if (
            entry is None
            or "space" in ref
            or entry.node.body is None
            or entry.node.id in trail
            or len(trail) > DEPTH_MAX
        ):
            return None
        text = self.read(entry.node.body).decode()
        self._includes_left -= 1
        self._characters_left -= len(text)
        if min(self._includes_left, self._characters_left) < 0:
            raise Failure(413, "This page includes too much. Read it with dereferenced=false.")
        nodes = self._build_nodes(text, entry)
        prefix_keys(nodes, f"{node.get('key')}.")
        return list(self._expand_includes(nodes, (*trail, entry.node.id)))


def open_page_documents(view: RevisionView) -> PageDocuments:
    """Return the documents of a revision's pages for the caller of the view."""
    open_space = partial(find_main_content, view.storage, view.caller)
    claims = find_claims(view)
    return PageDocuments(
        *(view.outline, view.context, view.storage.blobs.get, open_space, claims), has_annotations=claims is not None
    )


def find_claims(view: RevisionView) -> Mapping[str, Any] | None:
    """Return the claims of the visitor of a content token, by which conditions are decided; None for a person."""
    return None if view.caller.grant is None else view.caller.grant.claims or {}


def _find_file_value(ref: DocumentNode) -> DocumentNode | str:
    """What a cell of files says instead of a reference: the id of a file of the space, else the address."""
    match ref:
        case {"kind": "file", "file": str(value)} | {"kind": "url", "url": str(value)} if "space" not in ref:
            return value
    return ref
