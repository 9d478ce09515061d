"""Copying content from one tree into another: new ids, places of its own, and links that lead to the copies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from syncd.layout.markdown.addresses import make_relative, resolve_address
from syncd.layout.page import links
from syncd.layout.page.tag_forms import list_space_tags
from syncd.layout.tree.paths import number_slug, slugify
from syncd.model.content_ref import ContentRefWrite
from syncd.platform.http.failures import Failure
from syncd.platform.revisions.outline import Draft, has_path
from syncd.platform.revisions.paths import DraftPaths
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES, ROOT, SECTIONS, Node

PLACEHOLDER = "/refs/"
"""What an address begins with that a parameter of the template stands for: `/refs/<name>`."""

_REFERRED = ("page", "file", "reusableContent")


@dataclass(frozen=True)
class CopiedNode:
    """A node to copy and what holds it; `text` is a page's or a reusable content's, None for all else."""

    node: Node
    parent: str
    text: str | None = None


@dataclass
class ContentCopy:
    """One copy of pieces, parents first, onto a draft; its texts are kept by `write` when all is placed."""

    draft: Draft
    new_id: Callable[[], str]
    moment: str
    write: Callable[[Iterable[bytes]], Sequence[str]]
    refs: Mapping[str, ContentRefWrite] = field(default_factory=dict)
    _ids: dict[str, str] = field(default_factory=dict)
    _paths: dict[str, str] = field(default_factory=dict)

    def copy(self, pieces: Sequence[CopiedNode]) -> None:
        """Append copies of the pieces to the draft. Raises: Failure 400 for a reference that leads nowhere.

        Shape: a slug or path that is taken is numbered. A piece whose address means nothing here keeps its text.
        """
        self._ids = {section: section for section in SECTIONS} | {piece.node.id: self.new_id() for piece in pieces}
        self._check_refs()
        homeless = not self.draft.children(PAGES)
        taken = {self.draft.node(id).slug.casefold() for id in self.draft.children(PAGES)}
        placing = DraftPaths(self.draft)
        for piece in pieces:
            self._insert_copy(piece, placing, taken, homeless=homeless)
        tops = [self._ids[piece.node.id] for piece in pieces if piece.parent == PAGES]
        placing = DraftPaths(self.draft)
        placing.resolve_clashes(self._ids[piece.node.id] for piece in pieces if piece.parent == INCLUDES)
        placing.allocate_page_paths(tops, ())
        self._paths = {
            piece.node.path: self.draft.node(self._ids[piece.node.id]).path or "" for piece in pieces if piece.node.path
        }
        self._write_texts(pieces)

    def copy_shared_values(self, fields: Mapping[str, Any]) -> None:
        """Add those variables and tags of another revision whose names are free."""
        root = self.draft.node(ROOT)
        variables = {**fields.get("variables", {}), **root.fields.get("variables", {})}
        own, more = (list_space_tags(values.get("tags", ())) for values in (root.fields, fields))
        known = {tag["slug"] for tag in own}
        tags = [*own, *(tag for tag in more if tag["slug"] not in known)]
        shared = {name: value for name, value in (("variables", variables), ("tags", tags)) if value}
        self.draft.replace_node(replace(root, fields={**root.fields, **shared}))

    def _insert_copy(self, piece: CopiedNode, placing: DraftPaths, taken: set[str], *, homeless: bool) -> None:
        node, id = piece.node, self._ids[piece.node.id]
        slug, path = node.slug, node.path
        if piece.parent == PAGES and has_path(node):
            slug = slug if slug or homeless else slugify(node.title)
            slug = number_slug(slug, taken)
            taken.add(slug.casefold())
        if piece.parent == FILES:
            path = placing.allocate_file_path(node.title, id=id)
        elif piece.parent != INCLUDES:
            # A page's path follows from where it stands now.
            path = None
        fields = {**self._replace_references(node.fields)} | (
            {"createdAt": self.moment} if "createdAt" in node.fields else {}
        )
        fields.pop("updatedAt", None)
        self.draft.insert(Node(id, node.type, node.title, slug, fields, node.body, path), self._ids[piece.parent])

    def _write_texts(self, pieces: Sequence[CopiedNode]) -> None:
        texts = {self._ids[piece.node.id]: self._rewrite_links(piece) for piece in pieces if piece.text is not None}
        for id, body in zip(texts, self.write(text.encode() for text in texts.values()), strict=True):
            self.draft.replace_node(replace(self.draft.node(id), body=body))

    def _rewrite_links(self, piece: CopiedNode) -> str:
        former = piece.node.path or ""
        here = self._paths.get(former, former)

        def replacement(address: str) -> str | None:
            if address.startswith(PLACEHOLDER):
                return self._fill_placeholder(address.removeprefix(PLACEHOLDER), at=here)
            found = resolve_address(address, at=former)
            target = self._paths.get(found[0]) if found else None
            if found is None or target is None:
                return None
            unmoved = resolve_address(address, at=here)
            return None if unmoved == (target, found[1]) else make_relative(target, at=here) + found[1]

        return links.rewrite_addresses(piece.text or "", replacement)

    def _fill_placeholder(self, name: str, *, at: str) -> str | None:
        name, hash, anchor = name.partition("#")
        ref = self.refs.get(name)
        if ref is None:
            return None
        if ref.url is not None:
            return ref.url + hash + anchor
        path = self.draft.node(_find_target(ref)).path or ""
        stated = f"#{ref.anchor}" if ref.anchor else ""
        return make_relative(path, at=at) + (stated or hash + anchor)

    def _check_refs(self) -> None:
        for name, ref in self.refs.items():
            id = _find_target(ref)
            sound = ref.url is not None if ref.kind == "url" else id in self.draft and bool(self.draft.node(id).path)
            if not sound or (ref.url is not None and ref.kind != "url"):
                raise Failure(400, f"params.contentRefs.{name}: must lead to a page or file of this space, or to a url")

    def _replace_references(self, value: Any) -> Any:
        """Return a value with every reference to a node that was copied changed to one to its copy."""
        if isinstance(value, Mapping):
            changed = {key: self._replace_references(item) for key, item in value.items()}
            if "kind" in changed:
                changed.pop("space", None)
                pointing = {key: self._ids.get(str(changed[key]), changed[key]) for key in _REFERRED if key in changed}
                changed |= pointing
            return changed
        return [self._replace_references(item) for item in value] if isinstance(value, list) else value


def _find_target(ref: ContentRefWrite) -> str:
    return ref.page or ref.file or ref.reusable_content or ""
