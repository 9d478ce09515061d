"""Import a directory in Git Sync layout as a space, or as a new revision of one; known pages keep their ids."""

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename
from typing import Any

import sqlalchemy as sa

from syncd.errors import ConfigInvalid, FileInvalid, NotFound
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page import frontmatter
from syncd.layout.tree.built_sites import omit_built_sites
from syncd.layout.tree.draft import Draft as Declared
from syncd.layout.tree.draft import decode_text, read_draft
from syncd.layout.tree.paths import make_collision_key, number_slug, slugify
from syncd.layout.tree.settings import derive_page_slug
from syncd.layout.tree.skipped import SkippedPart
from syncd.layout.tree.summary import Entry
from syncd.layout.yaml import yaml
from syncd.model.text import quote_name
from syncd.platform.change_requests import main_content
from syncd.platform.change_requests.operations import DEPTH_MAX
from syncd.platform.revisions import revisions
from syncd.platform.revisions.files import build_file_fields, guess_content_type
from syncd.platform.revisions.metadata import apply_frontmatter, resolve_references
from syncd.platform.revisions.outline import Draft, Outline, is_page
from syncd.platform.revisions.tree import FILES, INCLUDES, PAGES, REDIRECTS, ROOT, Node
from syncd.platform.schema import accounts
from syncd.platform.schema.content import spaces
from syncd.platform.services.search.index import enqueue_indexing
from syncd.platform.spaces.spaces import insert_space
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

_KEPT = ("createdAt", "updatedAt", "emoji")
"""Members of a page that no file need hold."""


@dataclass(frozen=True)
class ImportResult:
    """The outcome of an import; `is_changed` is False when the space had this content already.

    Shape: `skipped` are parts of files that say nothing, and entries of the table of contents without a file;
    `unlisted` are Markdown files that the table of contents does not list, which are no pages; where it is inferred,
    they are those of folders.
    """

    space: str
    revision: str
    is_changed: bool
    skipped: tuple[SkippedPart, ...] = ()
    unlisted: tuple[str, ...] = ()
    is_inferred: bool = False


def import_directory(
    storage: Storage,
    directory: Path,
    *,
    title: str | None = None,
    space: str | None = None,
    organization: str | None = None,
) -> ImportResult:
    """Import a directory in Git Sync layout as a new space, or as the next revision of `space`.

    Shape: pages and files are matched by their path, groups and links by their place in the table of contents; `.git`,
    symbolic links and built sites are left out; without `organization` the first one is meant. It may run beside a
    server on the same data.
    Raises: ConfigInvalid when there is no directory; FileInvalid naming the file; NotFound for an unknown space or
    organization.
    """
    check_directory(directory)
    content = store_files(storage, omit_built_sites(_list_paths(directory)), lambda path: _read_file(directory, path))
    unlisted, is_inferred = content.declared.unlisted, content.declared.is_inferred
    with storage.write() as connection:
        row = None if space is None else _require_space_row(connection, space)
        known = None if row is None else revisions.open_revision(connection, row.id, row.revision)
        draft, skipped = content.build_draft(storage, known)
        if row is None:
            home = organization or _find_first_organization(connection)
            name = title or directory.resolve().name or "Untitled"
            id, saved = insert_space(storage, connection, draft, organization=home, by=None, title=name)
            enqueue_indexing(connection, storage, id)
            return ImportResult(id, saved.id, True, skipped, unlisted, is_inferred)
        if draft.hash_tree()[0] == revisions.require_revision(connection, row.id, row.revision).root:
            return ImportResult(row.id, row.revision, False, skipped, unlisted, is_inferred)
        saved = revisions.insert_revision(storage, connection, draft, revisions.RevisionOrigin(row.id, (row.revision,)))
        main_content.set_main_content(storage, connection, saved)
        if title:
            connection.execute(spaces.update().where(spaces.c.id == row.id).values(title=title))
        enqueue_indexing(connection, storage, row.id)
        return ImportResult(row.id, saved.id, True, skipped, unlisted, is_inferred)


def store_files(storage: Storage, paths: Iterable[str], read: Callable[[str], bytes]) -> "StoredFiles":
    """Keep the texts and files of a directory in Git Sync layout, before any transaction, and return what they declare.

    Raises: FileInvalid naming the file; what `read` raises.
    """
    declared = read_draft(sorted(paths), read)
    return StoredFiles(declared, _store_bodies(storage, read, declared))


def _list_skipped(declared: Declared) -> tuple[SkippedPart, ...]:
    """What of the files is not taken, in the order of the table of contents."""
    summary = declared.settings.add_root(declared.settings.summary)
    missing = (
        SkippedPart(summary, one.line, 1, f"there is no file {quote_name(one.path or '')}") for one in declared.missing
    )
    return (*declared.skipped, *missing)


@dataclass(frozen=True, slots=True)
class _ImportedBody:
    """A kept body. Shape: `heading` is the first heading of a page that starts with one."""

    oid: str
    fields: Mapping[str, Any]
    heading: str = ""


@dataclass(frozen=True)
class StoredFiles:
    """The files of a directory, whose bodies are kept by now."""

    declared: Declared
    bodies: Mapping[str, _ImportedBody]

    def build_draft(self, storage: Storage, known: Outline | None) -> tuple[Draft, tuple[SkippedPart, ...]]:
        """Return the tree that the files declare, with the ids of a tree that is known, and what is not taken.

        Raises: FileInvalid.
        """
        planting = _TreeBuilder(self.declared, self.bodies, known, storage.new_id, format_time(storage.now()))
        return planting.build(), (*_list_skipped(self.declared), *planting.skipped)


def check_directory(directory: Path) -> None:
    """Find out whether there is a directory to import. Raises: ConfigInvalid."""
    try:
        why = "" if stat.S_ISDIR(directory.stat().st_mode) else "it is a file"
    except OSError as failure:
        why = failure.strerror or str(failure)
    if why:
        hint = "name a directory of Markdown files in Git Sync layout"
        raise ConfigInvalid(f"{directory} cannot be imported: {why}", hint=hint)


def _list_paths(directory: Path) -> Iterator[str]:
    for here, folders, names in os.walk(directory, onerror=_raise_unreadable):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(here, name)
            # A symbolic link could lead anywhere on this machine, and what it leads to would be published.
            if name != ".git" and stat.S_ISREG(path.lstat().st_mode):
                yield _check_name(path.relative_to(directory).as_posix())


def _read_file(directory: Path, path: str) -> bytes:
    try:
        return (directory / path).read_bytes()
    except OSError as failure:
        _raise_unreadable(failure)
        raise


def _raise_unreadable(failure: OSError) -> None:
    # A folder or file that cannot be read must not pass for one that is not there.
    raise FileInvalid(f"cannot be read: {failure.strerror}", path=str(failure.filename), line=0) from failure


def _check_name(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as invalid:
        raise FileInvalid("its name is not UTF-8", path=ascii(path), line=0, hint="rename it") from invalid
    return path


def _store_bodies(storage: Storage, read: Callable[[str], bytes], declared: Declared) -> dict[str, _ImportedBody]:
    """Keep every body; texts are checked and described, files measured, on the way."""
    described_as: dict[str, tuple[Mapping[str, Any], str]] = {}

    def contents() -> Iterator[bytes]:
        for path in (*declared.documents, *declared.includes, *declared.files):
            data = read(path)
            described_as[path] = _describe_body(path, data, declared)
            yield data

    oids = storage.blobs.put_all(contents())
    return {path: _ImportedBody(oid, *described_as[path]) for oid, path in zip(oids, described_as, strict=True)}


def _describe_body(path: str, data: bytes, declared: Declared) -> tuple[Mapping[str, Any], str]:
    """The members that follow from a body, and the heading that a page starts with."""
    if path in declared.files:
        return build_file_fields(data, content_type=guess_content_type(basename(path))), ""
    text = decode_text(data, at=path)
    if path in declared.includes:
        return {"title": frontmatter.read_fields(text, at=path).get("title")}, ""
    return apply_frontmatter({}, text), frontmatter.read_heading(text) or ""


def _require_space_row(connection: sa.Connection, id: str) -> sa.Row[Any]:
    row = connection.execute(sa.select(spaces).where(spaces.c.id == id, spaces.c.deleted_at.is_(None))).one_or_none()
    if row is None:
        raise NotFound(f"no space {id}", hint="leave the space out to import into a new one")
    return row


def _find_first_organization(connection: sa.Connection) -> str:
    table = accounts.organizations
    first = connection.scalar(sa.select(table.c.id).order_by(table.c.created_at, table.c.id).limit(1))
    if first is None:
        raise NotFound("this platform has no organization", hint="start the platform once, which makes one")
    return str(first)


@dataclass
class _TreeBuilder:
    """The tree that a directory declares, with the ids of the tree that is there already."""

    declared: Declared
    bodies: Mapping[str, _ImportedBody]
    known: Outline | None
    new_id: Callable[[], str]
    moment: str
    draft: Draft = field(default_factory=Draft)
    skipped: list[SkippedPart] = field(default_factory=list)
    _ids: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    _by_file: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._slugs: dict[str, set[str]] = defaultdict(set)
        self._files = frozenset(self.declared.files)
        self._documents = frozenset(self.declared.documents)

    def build(self) -> Draft:
        """Return the tree as a draft."""
        self._index_known()
        for path in self.declared.files:
            self._insert_file(path, basename(path), "file", FILES)
        for path in self.declared.includes:
            title = self.bodies[path].fields.get("title")
            self._insert_file(path, str(title or basename(path).removesuffix(".md")), "reusable-content", INCLUDES)
        late: list[tuple[str, Entry]] = []
        self._insert_pages(late)
        for id, entry in late:
            self.draft.replace_node(replace(self.draft.node(id), fields=self._build_link_fields(id, entry)))
        shared = {"variables": self.declared.variables, "tags": list(self.declared.tags)}
        fields = {name: value for name, value in {**shared, REDIRECTS: self._build_redirects()}.items() if value}
        self.draft.replace_node(replace(self.draft.node(ROOT), fields=fields))
        return self.draft

    def _index_known(self) -> None:
        if self.known is None:
            return
        for id, tree_entry in self.known.entries.items():
            if tree_entry.node.path is not None:
                self._by_file[tree_entry.node.path] = id
            elif is_page(tree_entry.node):
                self._ids.setdefault(
                    _build_match_key(
                        tree_entry.node.type, tree_entry.node.title, tree_entry.node.slug, tree_entry.parent
                    ),
                    [],
                ).append(id)

    def _insert_pages(self, late: list[tuple[str, Entry]]) -> None:
        """Insert pages parents first; links wait until everything that they can lead to has its id."""
        pending = [(entry, PAGES, 1) for entry in reversed(self.declared.entries)]
        unlisted = set(self._documents)
        while pending:
            entry, parent, depth = pending.pop()
            if depth > DEPTH_MAX:
                raise FileInvalid("is nested too deep", path=self.declared.settings.summary, line=entry.line or 1)
            id = parent
            if entry.path in unlisted and entry.anchor is None:
                unlisted.remove(entry.path)
                id = self._insert_document(entry, entry.path, parent)
            elif entry.kind == "group" and parent != PAGES:
                self.skipped.append(self._describe_group(entry))
            elif entry.kind == "group":
                id = self._insert_other("group", entry, parent, slug=entry.slug or slugify(entry.title))
            elif entry.kind == "computed":
                fields = {"computed": yaml.load(entry.computed or "", at=self.declared.settings.summary)}
                id = self._insert_other("computed", entry, parent, fields=fields)
            elif entry.kind == "link" or entry.path in self._documents:
                id = self._insert_other("link", entry, parent)
                late.append((id, entry))
            # A page whose file is missing is not published; what it holds is, in its place.
            pending += [(child, id, depth + 1) for child in reversed(entry.children)]

    def _describe_group(self, entry: Entry) -> SkippedPart:
        """Why a group below a page is not taken."""
        name, why = quote_name(entry.title), "is below a page, and groups stand at the top; its pages move up"
        if self.declared.is_inferred:  # no line says it
            return SkippedPart("", 0, 0, f"the group {name}, a folder without README.md, {why}")
        summary = self.declared.settings.add_root(self.declared.settings.summary)
        return SkippedPart(summary, entry.line, 1, f"the group {name} {why}")

    def _insert_document(self, entry: Entry, path: str, parent: str) -> str:
        slug = self._choose_slug(derive_page_slug(path, settings=self.declared.settings), parent)
        body = self.bodies[path]
        fields = resolve_references(body.fields, lambda address: self._build_reference(address, path))
        fields |= {"linkTitle": entry.link_title} if entry.link_title else {}
        emoji, title = frontmatter.split_emoji(body.heading)
        fields |= {"emoji": emoji} if emoji and title == entry.title else {}
        node = Node(self._find_id(path), "document", entry.title, slug, fields, body.oid, path)
        return self._insert_page(node, parent)

    def _insert_file(self, path: str, title: str, type: str, section: str) -> None:
        body = self.bodies[path]
        fields = body.fields if type == "file" else {}
        self.draft.insert(Node(self._find_id(path), type, title, "", fields, body.oid, path), section)

    def _insert_other(
        self, type: str, entry: Entry, parent: str, *, slug: str = "", fields: Mapping[str, Any] | None = None
    ) -> str:
        slug = self._choose_slug(slug, parent) if slug else slug
        waiting = self._ids.get(_build_match_key(type, entry.title, slug, parent))
        id = waiting.pop(0) if waiting else self.new_id()
        return self._insert_page(Node(id, type, entry.title, slug, fields or {}), parent)

    def _insert_page(self, node: Node, parent: str) -> str:
        """Insert a page with what no file holds; its dates move only when it changed."""
        former = self.known.node(node.id) if self.known else None
        kept = {name: former.fields[name] for name in _KEPT if name in former.fields} if former else {}
        node = replace(node, fields={"createdAt": self.moment, **kept, **node.fields})
        if former is not None and replace(former, children=()) != node and node.type != "link":
            node = replace(node, fields={**node.fields, "updatedAt": self.moment})
        self.draft.insert(node, parent)
        return node.id

    def _build_link_fields(self, id: str, entry: Entry) -> dict[str, Any]:
        fields = {**self.draft.node(id).fields} | ({"linkTitle": entry.link_title} if entry.link_title else {})
        if entry.path is not None:
            target: dict[str, Any] = {"kind": "page", "page": self._by_file[entry.path]}
            return fields | {"target": target | ({"anchor": entry.anchor} if entry.anchor else {})}
        address = entry.target or ""
        below = self.declared.settings.add_root
        found = resolve_address(address, at=below(self.declared.settings.summary), root=below(""))
        file = self._by_file.get(found[0]) if found and found[0] in self._files else None
        return fields | {"target": {"kind": "url", "url": address} if file is None else {"kind": "file", "file": file}}

    def _build_redirects(self) -> dict[str, str]:
        """The pages to which the redirects of `.gitbook.yaml` lead, by the key of the old path; others lead nowhere."""
        settings = self.declared.settings
        leading = ((source, settings.add_root(to)) for source, to in settings.redirects.items())
        return {
            make_collision_key(source.strip("/")): self._find_id(file)
            for source, file in leading
            if file in self._documents
        }

    def _choose_slug(self, wanted: str, parent: str) -> str:
        slug = number_slug(wanted, self._slugs[parent])
        self._slugs[parent].add(slug.casefold())
        return slug

    def _build_reference(self, address: str, at: str) -> dict[str, Any]:
        found = resolve_address(address, at=at, root=self.declared.settings.add_root(""))
        if found and found[0] in self._files:
            return {"kind": "file", "file": self._find_id(found[0])}
        if found and found[0] in self._documents:
            return {"kind": "page", "page": self._find_id(found[0])}
        return {"kind": "url", "url": address}

    def _find_id(self, path: str) -> str:
        return self._by_file.setdefault(path, self.new_id())


def _build_match_key(type: str, title: str, slug: str, parent: str) -> tuple[str, ...]:
    # A group is known by where it is, whatever its title; a link only by its title.
    return (type, slug or title, parent)
