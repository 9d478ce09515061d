"""Assign paths in a repository to the pages, files and reusable contents of a revision."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from syncd.layout.markdown.addresses import make_relative
from syncd.layout.tree.path_allocator import BasePath, PathAllocator, PathRequest
from syncd.layout.tree.paths import ASSETS, INCLUDES, slugify
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, assemble_entries, is_safe_target
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.layout.yaml import yaml
from syncd.model.page import Page, walk_pages
from syncd.model.revision import Revision
from syncd.model.text import clean_title

Item = TypeVar("Item", Page, Entry)

SUMMARY = "SUMMARY.md"
APP = "https://app.gitbook.com/s/"

_DEFAULTS = Settings()
_COMPUTED = ("type", "props", "dependencies")


@dataclass(frozen=True)
class Placement:
    """Paths by id, below the space's directory, so the root of `.gitbook.yaml` is part of them.

    Shape: `platform_paths` are the paths that the platform asked for; `replaced_paths` names each (id, what it asked
    for, path used) that could not be used; `root` ends with a slash, or is ""; `variables` and `tags` are None where
    the revision has none.
    """

    pages: Mapping[str, str]
    files: Mapping[str, str]
    includes: Mapping[str, str]
    platform_paths: Mapping[str, str]
    replaced_paths: tuple[tuple[str, str, str], ...] = ()
    variables: str | None = None
    tags: str | None = None
    summary: str = SUMMARY
    root: str = ""


def assign_paths(
    revision: Revision,
    *,
    base: Mapping[str, BasePath] = {},
    settings: Settings = _DEFAULTS,
    reserved: Iterable[str] = (),
) -> Placement:
    """Return a safe, collision-free path for everything in a revision; `base` are the paths of the last run, and at
    `reserved` ones nothing comes to lie.

    Shape: a path of the base stays while the platform asks for the same; else `git.path`, when it is safe; else the
    path of the page with `.md`, or `/README.md` when documents are below it, and the settings' `readme` for the first
    top-level document; `.gitbook/assets/<name>`; `.gitbook/includes/<title>.md`. All of it is below the settings' root,
    also what the platform names without it. Deterministic and linear.
    """
    root, below = settings.add_root(""), settings.add_root
    requests = [
        *_request_page_paths(revision.pages, settings.readme),
        *_request_file_paths(revision),
        *_request_include_paths(revision),
    ]
    if root:
        requests = [
            request._replace(path=request.path.removeprefix(root)) if request.is_given else request
            for request in requests
        ]
        inner = {id: one for id, one in base.items() if one.path.startswith(root)}
        base = {id: BasePath(one.path[len(root) :], one.platform_path, one.oid) for id, one in inner.items()}
    kept = (path.removeprefix(root) for path in reserved)
    allocator = PathAllocator(requests, base, (settings.summary, VARIABLES, TAGS, *kept)).allocate()
    by_kind: dict[str, dict[str, str]] = {"page": {}, "file": {}, "include": {}}
    platform_paths: dict[str, str] = {}
    for request in requests:
        if request.id not in platform_paths:
            platform_paths[request.id] = request.platform_path
            by_kind[request.kind][request.id] = below(allocator.paths[request.id])
    return Placement(
        pages=by_kind["page"],
        files=by_kind["file"],
        includes=by_kind["include"],
        platform_paths=platform_paths,
        replaced_paths=tuple((id, platform_path, below(path)) for id, platform_path, path in allocator.replaced_paths),
        variables=below(VARIABLES) if revision.variables else None,
        tags=below(TAGS) if revision.tags else None,
        summary=below(settings.summary),
        root=root,
    )


def _request_page_paths(pages: tuple[Page, ...], readme: str) -> Iterator[PathRequest]:
    home = next((page for page in pages if page.type == "document"), None)
    pending = [(page, "") for page in reversed(pages)]
    while pending:
        page, above = pending.pop()
        kind = page.type
        if kind == "computed":
            continue
        path, children, git = page.path, page.pages, page.git
        if path is None:
            slug = page.slug or slugify(page.title)
            path = f"{above}/{slug}" if above else slug
        if kind == "document":
            if git is not None:
                yield PathRequest(page.id, "page", git.path, git.path, True)
            elif page is home:
                yield PathRequest(page.id, "page", readme, readme, False)
            else:
                below = children and any(child.type == "document" for child in children)
                platform_path = f"{path.strip('/')}{'/README.md' if below else '.md'}"
                yield PathRequest(page.id, "page", platform_path, platform_path, False)
        if children:
            pending.extend((child, path) for child in reversed(children))


def _request_file_paths(revision: Revision) -> Iterator[PathRequest]:
    for file in revision.files:
        path, oid = (file.git.path, file.git.oid) if file.git else (ASSETS + file.name, "")
        yield PathRequest(file.id, "file", path, path, file.git is not None, oid)


def _request_include_paths(revision: Revision) -> Iterator[PathRequest]:
    for content in revision.reusable_contents:
        path = content.git.path if content.git else f"{INCLUDES}{slugify(content.title)}.md"
        yield PathRequest(content.id, "include", path, path, content.git is not None)


def build_entries(revision_pages: tuple[Page, ...], placement: Placement) -> tuple[Entry, ...]:
    """Return the entries of SUMMARY.md for a revision's pages.

    Shape: a link to a page or file of the space is written as a relative path; one that nothing resolves as the
    platform writes it, `/broken/…`. A link that comes before the page it leads to ends with `#`, since the first plain
    entry of a file is its page. Pages below a computed page are generated and stay out.
    """
    early = _find_early_links(revision_pages)
    return assemble_entries(
        revision_pages, _list_written_children, lambda page, below: _build_entry(page, below, placement, early)
    )


def _find_early_links(pages: tuple[Page, ...]) -> set[str]:
    """Return the ids of links that come before the page that they lead to."""
    seen: set[str] = set()
    early: set[str] = set()
    for page, _ in walk_pages(pages):
        if page.type == "document":
            seen.add(page.id)
        elif page.type == "link" and page.target and page.target.get("page") not in seen:
            early.add(page.id)
    return early


def _list_written_children(page: Page) -> tuple[Page, ...]:
    return () if page.type == "computed" else page.pages


def _build_entry(page: Page, below: tuple[Entry, ...], placement: Placement, early: Container[str]) -> Entry:
    if page.type == "document":
        path = make_relative(placement.pages[page.id], at=placement.summary)
        return Entry("document", page.title, path, link_title=page.link_title, children=below)
    if page.type == "computed":
        return Entry("computed", "", computed=_dump_computed_tree(page.computed or {}))
    if page.type == "link":
        return _build_link_entry(page, below, placement, blank="" if page.id in early else None)
    slug = page.slug if page.slug and page.slug != slugify(page.title) else None
    return Entry("group", page.title, slug=slug, children=below)


def _dump_computed_tree(tree: Mapping[str, Any]) -> str:
    """Return the YAML of a computed tree, keys in the order in which the platform exports them."""
    ordered = {key: tree[key] for key in _COMPUTED if key in tree}
    return yaml.dump({**ordered, **tree}).rstrip("\n")


def _build_link_entry(page: Page, below: tuple[Entry, ...], placement: Placement, *, blank: str | None) -> Entry:
    target = page.target or {}
    path = placement.pages.get(str(target.get("page"))) if "space" not in target else None
    if path is not None:
        anchor = str(target["anchor"]) if target.get("anchor") else blank
        address = make_relative(path, at=placement.summary)
        return Entry("document", page.title, address, anchor, link_title=page.link_title, children=below)
    return Entry(
        "link", page.title, link_title=page.link_title, target=_format_target(target, placement), children=below
    )


def _format_target(target: Mapping[str, Any], placement: Placement) -> str:
    """Return the address of the page, file or URL that a link page leads to."""
    if isinstance(url := target.get("url"), str) and url:
        # Written as it is, it would be read as a page: what starts with `/./` never is.
        return url if is_safe_target(url, at=placement.summary) else f"/./{url.lstrip('./')}"
    members = {key: str(target[key]) for key in ("space", "page", "file", "anchor") if target.get(key)}
    if "space" in members:
        anchor = f"#{members['anchor']}" if "anchor" in members else ""
        return APP + "/".join(members[key] for key in ("space", "page") if key in members) + anchor
    if members.get("file") in placement.files:
        return make_relative(placement.files[members["file"]], at=placement.summary)
    kind = "files" if "file" in members else "pages"
    return f"/broken/{kind}/{members.get('file') or members.get('page') or ''}"


def match_pages(
    pages: tuple[Page, ...],
    entries: tuple[Entry, ...],
    *,
    settings: Settings = _DEFAULTS,
    known: Mapping[str, str] = {},
) -> dict[str, str]:
    """Return the file of each page that can be matched with confidence, by page id, from a page tree and a SUMMARY
    tree.

    Shape: level by level below matched parents: first the `known` path of a page, then the same path, then the same
    slug, then the same title, each only where it is unique on both sides. Used to recover when ids were lost.
    """
    found: dict[str, str] = {}
    pending = [(pages, entries)]
    while pending:
        for page, entry in _pair_children(*pending.pop(), settings, known):
            if entry.path is not None:
                found[page.id] = entry.path
            if page.pages and entry.children:
                pending.append((page.pages, entry.children))
    return found


def _pair_children(
    pages: tuple[Page, ...], entries: tuple[Entry, ...], settings: Settings, known: Mapping[str, str]
) -> Iterator[tuple[Page, Entry]]:
    """Yield pairs of page and entry among the children of two matched parents."""
    pages_left = {id(page): page for page in pages if page.type in ("document", "group")}
    entries_left = {
        id(entry): entry for entry in entries if entry.kind in ("document", "group") and entry.anchor is None
    }
    by_slug = partial(_entry_slug_key, settings=settings)
    for page_key, entry_key in (
        (partial(_known_path_key, known=known), _entry_path_key),
        (_page_path_key, _entry_path_key),
        (_page_slug_key, by_slug),
        (_page_title_key, _entry_title_key),
    ):
        pages_by_key = _index_unique((page_key(page), page) for page in pages_left.values())
        entries_by_key = _index_unique((entry_key(entry), entry) for entry in entries_left.values())
        for key, page in pages_by_key.items():
            if key in entries_by_key:
                del pages_left[id(page)], entries_left[id(entries_by_key[key])]
                yield page, entries_by_key[key]


def _index_unique(items: Iterable[tuple[tuple[str, str] | None, Item]]) -> dict[tuple[str, str], Item]:
    """Return the items whose key no other has."""
    found: dict[tuple[str, str], Item] = {}
    twice: set[tuple[str, str]] = set()
    for key, item in items:
        if key in found:
            twice.add(key)
        elif key is not None:
            found[key] = item
    return {key: item for key, item in found.items() if key not in twice}


def _known_path_key(page: Page, known: Mapping[str, str]) -> tuple[str, str] | None:
    return (page.type, known[page.id]) if page.id in known else None


def _page_path_key(page: Page) -> tuple[str, str] | None:
    return (page.type, page.git.path) if page.git else None


def _entry_path_key(entry: Entry) -> tuple[str, str] | None:
    return (entry.kind, entry.path) if entry.path else None


def _page_slug_key(page: Page) -> tuple[str, str] | None:
    return (page.type, page.slug) if page.slug else None


def _entry_slug_key(entry: Entry, *, settings: Settings) -> tuple[str, str] | None:
    slug = derive_page_slug(entry.path, settings=settings) if entry.path else entry.slug or slugify(entry.title)
    return (entry.kind, slug) if slug else None


def _page_title_key(page: Page) -> tuple[str, str] | None:
    return page.type, clean_title(page.title)


def _entry_title_key(entry: Entry) -> tuple[str, str] | None:
    return entry.kind, clean_title(entry.title)
