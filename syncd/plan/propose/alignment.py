"""Align the two sides of a proposal: which existing page stands for which entry of the branch."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from syncd.layout.tree.draft import Draft
from syncd.layout.tree.placement import Placement, build_entries
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, assemble_entries
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.model.text import clean_title
from syncd.plan.propose.identity import ListedPage, find_desired_paths
from syncd.plan.propose.page_tree import Node, build_tree
from syncd.plan.propose.steps import FormerPage
from syncd.plan.toc_match import Identity, Outline, OutlineEntry, match_outlines


@dataclass(frozen=True)
class ExistingSide:
    """The content that a proposal starts from: a revision, and the anchors of its pages and files by id.

    Shape: `link_titles` are those that Git has for it, by path; they count where the platform tells none at all.
    `deleted` are pages that a change request has deleted and the branch has, by path: inserted anew, such a page would
    be another one than in main content.
    """

    revision: Revision
    anchors: Mapping[str, Anchor]
    link_titles: Mapping[str, str] = field(default_factory=dict)
    deleted: Mapping[str, FormerPage] = field(default_factory=dict)


def _read_nothing(path: str) -> bytes:
    return b""


@dataclass(frozen=True)
class DesiredSide:
    """The content that a branch asks for: its entries, its blobs by path, and renames since the existing one.

    Shape: `linking` are the pages that link to files outside of `.gitbook/assets` which are new, and to files which are
    gone, by the file's path.
    `read` returns the bytes of a file; it is asked only for what is new, retitled or renamed.
    """

    draft: Draft
    blobs: Mapping[str, str]
    renames: Mapping[str, str] = field(default_factory=dict)
    linking: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read: Callable[[str], bytes] = _read_nothing

    def has_page(self, spot: OutlineEntry) -> bool:
        """Return whether an entry is a page whose file exists."""
        return spot.is_page and spot.entry.path in self.blobs


class Alignment(NamedTuple):
    """Both sides: nodes and entries by identity, and where each page that stays has its file on the desired side."""

    root: Node
    nodes: Mapping[Identity, Node]
    wanted: Outline
    former: Outline
    paths: Mapping[Node, str]


def align_sides(desired: DesiredSide, existing: ExistingSide) -> Alignment:
    """Return both sides with their entries matched, and fill in each node's path; linear.

    Shape: a page without an anchor has no file, and matches nothing.
    """
    root = build_tree(existing.revision.pages)
    nodes = list(_list_shown(root))
    paths: dict[str, str] = {}
    for node in nodes:
        anchor = existing.anchors.get(node.id) if node.is_document else None
        if anchor is not None:
            node.path = paths.setdefault(anchor.path, anchor.path) if anchor.path not in paths else None
    entries = _build_entries(existing, nodes)
    # Two sides only: what exists is the base, what is desired is ours.
    former, wanted, _ = match_outlines(entries, desired.draft.entries, (), ours_paths={}, theirs_paths={})
    same = _find_unchanged(nodes, wanted, desired, existing)
    found = find_desired_paths(
        _list_existing(nodes, existing, desired.draft.settings, same),
        _list_desired(wanted, desired, same),
        files=desired.blobs,
        renames=desired.renames,
    )
    # The first match knew of no renames, since it is what they are found by.
    if any(old != new for old, new in found.items()):
        found |= {path: path for path in same}
        former, wanted, _ = match_outlines(entries, desired.draft.entries, (), ours_paths=found, theirs_paths={})
    by_identity = dict(zip(former.spots, nodes, strict=True))
    kept = (
        (by_identity.get(spot.identity), spot.entry.path) for spot in wanted.spots.values() if desired.has_page(spot)
    )
    return Alignment(root, by_identity, wanted, former, {node: path for node, path in kept if node and path})


def _list_shown(root: Node) -> Iterator[Node]:
    """The nodes that SUMMARY.md lists: what is below a computed page is generated."""
    pending = list(reversed(root.children))
    while pending:
        node = pending.pop()
        yield node
        if node.page is None or node.page.type != "computed":
            pending += reversed(node.children)


def _find_unchanged(nodes: Sequence[Node], wanted: Outline, desired: DesiredSide, existing: ExistingSide) -> set[str]:
    """Paths of pages with the same text on both sides: about these there is no question."""
    listed = {spot.entry.path for spot in wanted.spots.values() if spot.is_page}
    return {
        node.path
        for node in nodes
        if node.path in listed and node.path and desired.blobs.get(node.path) == existing.anchors[node.id].oid
    }


def _list_existing(
    nodes: Sequence[Node], existing: ExistingSide, settings: Settings, same: Container[str]
) -> Iterator[ListedPage]:
    for node in nodes:
        if node.path is not None and node.path not in same and node.page is not None:
            above = next((above.path for above in node.list_ancestors() if above.path is not None), "")
            oid = existing.anchors[node.id].oid
            yield ListedPage(
                node.path, clean_title(node.page.title), derive_page_slug(node.path, settings=settings), above, oid
            )


def _list_desired(outline: Outline, desired: DesiredSide, same: Container[str]) -> Iterator[ListedPage]:
    for spot in outline.spots.values():
        if spot.entry.path not in same and desired.has_page(spot) and spot.entry.path is not None:
            path, above = spot.entry.path, spot.parent
            while above is not None and not desired.has_page(above):
                above = above.parent
            over = above.entry.path if above is not None and above.entry.path is not None else ""
            slug = derive_page_slug(path, settings=desired.draft.settings)
            yield ListedPage(path, clean_title(spot.entry.title), slug, over, desired.blobs[path])


def _build_entries(existing: ExistingSide, nodes: Sequence[Node]) -> tuple[Entry, ...]:
    """The entries of existing content; one for each page, and a page without an anchor has a path that no file has."""
    pages = {node.id: node.path or f"\0{node.id}" for node in nodes if node.is_document}
    files = {anchor.id: anchor.path for anchor in existing.anchors.values() if anchor.kind == "file"}
    placement = Placement(pages, files, {}, {})

    def entry(page: Page, below: tuple[Entry, ...]) -> Entry:
        if page.type == "document":
            return Entry("document", page.title, pages[page.id], children=below)
        (made,) = build_entries((page.model_copy(update={"pages": ()}) if page.pages else page,), placement)
        is_link = page.type == "link" and made.kind == "document"
        return replace(made, anchor=made.anchor or "" if is_link else made.anchor, children=below)

    return assemble_entries(existing.revision.pages, lambda page: () if page.type == "computed" else page.pages, entry)
