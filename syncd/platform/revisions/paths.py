"""File paths of pages and files that are written through the API: derived from their position, each unique."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from syncd.layout.tree.paths import make_collision_key, make_safe_segment, number_slug, slugify
from syncd.platform.revisions.outline import Draft, has_path
from syncd.platform.revisions.tree import PAGES

ASSETS = ".gitbook/assets"
HOME = "readme.md"
"""The last segment, case-folded, of the file of a page with a folder of its own."""

_RESERVED = ("summary.md", ".gitbook.yaml")


class DraftPaths:
    """Allocates file paths for entries that were inserted, moved or renamed in a draft; all others keep theirs."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._root = _find_root_directory(draft)
        self._taken = {make_collision_key(_join_path(self._root, name)): "" for name in _RESERVED}
        self._leaving: set[str] = set()
        for id in draft.touched_ids:
            path = draft.node(id).path
            if path is not None and self._is_free(path, id):
                self._taken[make_collision_key(path)] = id

    def allocate_page_paths(self, moved: Iterable[str], parents: Iterable[str]) -> None:
        """Give new paths to pages that were moved or have a new slug, and to parents that won their first child or lost
        their last.

        All that a moved page holds moves with it; a page with children becomes its folder's README.
        """
        for parent in parents:
            if parent in self._draft and self._draft.node(parent).type == "document":
                self._switch_readme(parent)
        below = [each for id in self._find_outermost(set(moved)) for each in self._draft.walk(id)]
        documents = [id for id in below if self._draft.node(id).type == "document"]
        # All give up their paths before the first one gets a new one, so that two pages can swap theirs.
        self._leaving.update(documents)
        self._taken = {key: id for key, id in self._taken.items() if id not in self._leaving}
        for id in documents:
            self._assign_path(id, self._list_candidates(id))

    def allocate_file_path(self, name: str, *, id: str) -> str:
        """Return a free path below the assets for a new file; a collision is numbered as Git Sync does it."""
        stem, dot, extension = make_safe_segment(name, fallback=id).rpartition(".")
        if not stem:
            stem, dot, extension = extension, "", ""
        names = (f"{stem}{dot}{extension}" if at == 0 else f"{stem} ({at}){dot}{extension}" for at in count())
        return self._take_free_path((_join_path(self._root, f"{ASSETS}/{name}") for name in names), id)

    def resolve_clashes(self, ids: Iterable[str]) -> list[str]:
        """Give a free path to each of these pages and files whose path another one has, and return the ids of those.

        Needed after a merge, in which both sides can have created the same path.
        """
        clashed = []
        for id in ids:
            node = self._draft.node(id)
            if node.path is not None and not self._is_free(node.path, id):
                stem, dot, extension = node.path.rpartition(".")
                self._assign_path(id, (f"{stem or extension}-{at}{dot}{extension if stem else ''}" for at in count(1)))
                clashed.append(id)
        return clashed

    def _find_outermost(self, moved: set[str]) -> Iterator[str]:
        # A page below another moved one is reached from there, parents first.
        return (id for id in sorted(moved) if id in self._draft and moved.isdisjoint(self._draft.ancestors(id)))

    def _switch_readme(self, id: str) -> None:
        path = self._draft.node(id).path
        if path is None:
            return
        parent, had = (
            _has_documents(self._draft, id),
            id in self._draft.base.entries and _had_documents(self._draft, id),
        )
        if parent and not _is_readme(path):
            self._assign_path(id, _number_paths(_find_folder(path), "/README.md"))
        elif had and not parent and _is_readme(path) and _find_folder(path) != self._root:
            self._assign_path(id, _number_paths(_find_folder(path), ".md"))

    def _list_candidates(self, id: str) -> Iterator[str]:
        node, parent = self._draft.node(id), self._draft.parent(id)
        home = _join_path(self._root, "README.md")
        if parent == PAGES and self._is_free(home, id) and _find_first_document(self._draft) == id:
            return iter((home,))
        stem = _join_path(
            self._find_directory(parent), make_safe_segment(node.slug or slugify(node.title), fallback=id)
        )
        return _number_paths(stem, "/README.md" if _has_documents(self._draft, id) else ".md")

    def _find_directory(self, id: str) -> str:
        if id == PAGES:
            return self._root
        node = self._draft.node(id)
        if node.path is not None:
            return _find_folder(node.path)
        # A group has no file. Where its pages lie already is where a writer wants the next one.
        settled = (child for child in self._draft.children(id) if child not in self._leaving)
        for path in (self._draft.node(child).path for child in settled):
            if path is not None:
                return (_find_folder(path) if _is_readme(path) else path).rpartition("/")[0]
        return _join_path(self._find_directory(self._draft.parent(id)), make_safe_segment(node.slug, fallback=id))

    def _assign_path(self, id: str, candidates: Iterator[str]) -> None:
        node = self._draft.node(id)
        path = self._take_free_path(candidates, id)
        self._leaving.discard(id)
        if path != node.path:
            self._draft.replace_node(replace(node, path=path))

    def _take_free_path(self, candidates: Iterator[str], id: str) -> str:
        path = next(path for path in candidates if self._is_free(path, id))
        self._taken[make_collision_key(path)] = id
        return path

    def _is_free(self, path: str, id: str) -> bool:
        key = make_collision_key(path)
        holder = self._taken.get(key)
        if holder is None:
            holder = self._draft.base.by_file.get(key, id)
            # The base's holder may be gone or elsewhere by now.
            if holder not in self._draft or make_collision_key(self._draft.node(holder).path or "") != key:
                return True
        return holder == id or holder in self._leaving


def find_free_slug(draft: Draft, parent: str, slug: str, *, but: str = "") -> str:
    """Return a slug that nobody chose, numbered when another child of `parent` has it."""
    return number_slug(slug, find_sibling_slugs(draft, parent, but=but))


def find_sibling_slugs(draft: Draft, parent: str, *, but: str = "") -> set[str]:
    """Return the case-folded slugs of a parent's children, except of the child `but`."""
    nodes = (draft.node(child) for child in draft.children(parent) if child != but)
    return {node.slug.casefold() for node in nodes if has_path(node)}


def _find_root_directory(draft: Draft) -> str:
    # A space that was imported with a root in `.gitbook.yaml` lies in the folder of its home page.
    tops = (draft.node(child) for child in draft.children(PAGES))
    homes = (node.path for node in tops if node.type == "document" and not node.slug and node.path)
    home = next(homes, "")
    return _find_folder(home) if _is_readme(home) else ""


def _find_first_document(draft: Draft) -> str | None:
    return next((id for id in draft.children(PAGES) if draft.node(id).type == "document"), None)


def _has_documents(draft: Draft, id: str) -> bool:
    return any(draft.node(child).type == "document" for child in draft.children(id))


def _had_documents(draft: Draft, id: str) -> bool:
    return any(draft.base.entries[child].node.type == "document" for child in draft.base.order.get(id, ()))


def _is_readme(path: str) -> bool:
    return path.rpartition("/")[2].casefold() == HOME


def _find_folder(path: str) -> str:
    """The folder that a page's children lie in: its own for a README, else the one named as the page."""
    return path.rpartition("/")[0] if _is_readme(path) else path.removesuffix(".md")


def _join_path(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


def _number_paths(stem: str, ending: str) -> Iterator[str]:
    return (f"{stem}{ending}" if at == 0 else f"{stem}-{at}{ending}" for at in count())
