"""From a revision to paths: where each page, file and reusable content lives in a repository."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from syncd.layout.page.links import relative
from syncd.layout.tree.draft import ASSETS, INCLUDES, page_slug
from syncd.layout.tree.path_allocator import Known, Settler, Wish
from syncd.layout.tree.paths import slugify
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, assemble, is_safe_target
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.layout.yaml import yaml
from syncd.model.page import Page, walk
from syncd.model.revision import Revision
from syncd.model.text import clean_title

__all__ = ["Known", "Placement", "entries_of", "match", "place"]

Item = TypeVar("Item", Page, Entry)

SUMMARY = "SUMMARY.md"
APP = "https://app.gitbook.com/s/"

_USUAL = Settings()
_COMPUTED = ("type", "props", "dependencies")


@dataclass(frozen=True)
class Placement:
    """Paths by id; `mapped` names each (id, what the platform asked for, path used) where a name had to be changed.

    Shape: every path is below the space's directory, so the root of `.gitbook.yaml` is part of it; `root` is that
    with a slash behind it, or ""; `variables` and `tags` are None where the revision has none.
    """

    pages: Mapping[str, str]
    files: Mapping[str, str]
    includes: Mapping[str, str]
    forms: Mapping[str, str]
    mapped: tuple[tuple[str, str, str], ...] = ()
    variables: str | None = None
    tags: str | None = None
    summary: str = SUMMARY
    root: str = ""


def place(revision: Revision, *, known: Mapping[str, Known] = {}, settings: Settings = _USUAL) -> Placement:
    """Given a revision, the base and the space's settings, return a safe, collision-free path for everything in it.

    Shapes: a known path stays while its form does; else `git.path`, when it is safe; else the path of the page with
    `.md`, or `/README.md` when documents are below it, and the settings' `readme` for the first top-level document;
    `.gitbook/assets/<name>`; `.gitbook/includes/<title>.md`. All of it is below the settings' root, also what the
    platform names without it. Deterministic and linear.
    """
    root, below = settings.below(""), settings.below
    wishes = [*_pages(revision.pages, settings.readme), *_files(revision), *_includes(revision)]
    if root:
        wishes = [wish._replace(path=wish.path.removeprefix(root)) if wish.given else wish for wish in wishes]
        inner = {id: base for id, base in known.items() if base.path.startswith(root)}
        known = {id: Known(base.path[len(root) :], base.form, base.oid) for id, base in inner.items()}
    settled = Settler(wishes, known, (settings.summary, VARIABLES, TAGS)).settle()
    by_kind: dict[str, dict[str, str]] = {"page": {}, "file": {}, "include": {}}
    forms: dict[str, str] = {}
    for wish in wishes:
        if wish.id not in forms:
            forms[wish.id] = wish.form
            by_kind[wish.kind][wish.id] = below(settled.paths[wish.id])
    return Placement(
        pages=by_kind["page"],
        files=by_kind["file"],
        includes=by_kind["include"],
        forms=forms,
        mapped=tuple((id, form, below(path)) for id, form, path in settled.mapped),
        variables=below(VARIABLES) if revision.variables else None,
        tags=below(TAGS) if revision.tags else None,
        summary=below(settings.summary),
        root=root,
    )


def _pages(pages: tuple[Page, ...], readme: str) -> Iterator[Wish]:
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
                yield Wish(page.id, "page", git.path, git.path, True)
            elif page is home:
                yield Wish(page.id, "page", readme, readme, False)
            else:
                below = children and any(child.type == "document" for child in children)
                form = f"{path.strip('/')}{'/README.md' if below else '.md'}"
                yield Wish(page.id, "page", form, form, False)
        if children:
            pending.extend((child, path) for child in reversed(children))


def _files(revision: Revision) -> Iterator[Wish]:
    for file in revision.files:
        path, oid = (file.git.path, file.git.oid) if file.git else (ASSETS + file.name, "")
        yield Wish(file.id, "file", path, path, file.git is not None, oid)


def _includes(revision: Revision) -> Iterator[Wish]:
    for content in revision.reusable_contents:
        path = content.git.path if content.git else f"{INCLUDES}{slugify(content.title)}.md"
        yield Wish(content.id, "include", path, path, content.git is not None)


def entries_of(revision_pages: tuple[Page, ...], placement: Placement) -> tuple[Entry, ...]:
    """Given a revision's pages and their placement, return the entries of its SUMMARY.md.

    Shapes: a link to a page or file of the space is written as a relative path; one that nothing resolves as the
    platform writes it, `/broken/…`. A link that comes before the page it leads to ends with `#`, since the first plain
    entry of a file is its page. Pages below a computed page are generated and stay out.
    """
    early = _early(revision_pages)
    return assemble(revision_pages, _children, lambda page, below: _entry(page, below, placement, early))


def _early(pages: tuple[Page, ...]) -> set[str]:
    """Links that come before the page that they lead to."""
    seen: set[str] = set()
    early: set[str] = set()
    for page, _ in walk(pages):
        if page.type == "document":
            seen.add(page.id)
        elif page.type == "link" and page.target and page.target.get("page") not in seen:
            early.add(page.id)
    return early


def _children(page: Page) -> tuple[Page, ...]:
    return () if page.type == "computed" else page.pages


def _entry(page: Page, below: tuple[Entry, ...], placement: Placement, early: Container[str]) -> Entry:
    if page.type == "document":
        path = relative(placement.pages[page.id], at=placement.summary)
        return Entry("document", page.title, path, link_title=page.link_title, children=below)
    if page.type == "computed":
        return Entry("computed", "", computed=_computed(page.computed or {}))
    if page.type == "link":
        return _link(page, below, placement, blank="" if page.id in early else None)
    slug = page.slug if page.slug and page.slug != slugify(page.title) else None
    return Entry("group", page.title, slug=slug, children=below)


def _computed(tree: Mapping[str, Any]) -> str:
    """The YAML of a computed tree, keys in the order in which the platform exports them."""
    ordered = {key: tree[key] for key in _COMPUTED if key in tree}
    return yaml.dump({**ordered, **tree}).rstrip("\n")


def _link(page: Page, below: tuple[Entry, ...], placement: Placement, *, blank: str | None) -> Entry:
    target = page.target or {}
    path = placement.pages.get(str(target.get("page"))) if "space" not in target else None
    if path is not None:
        anchor = str(target["anchor"]) if target.get("anchor") else blank
        address = relative(path, at=placement.summary)
        return Entry("document", page.title, address, anchor, link_title=page.link_title, children=below)
    return Entry("link", page.title, link_title=page.link_title, target=_address(target, placement), children=below)


def _address(target: Mapping[str, Any], placement: Placement) -> str:
    """The address of what a link page leads to, page of another space, file or URL."""
    if isinstance(url := target.get("url"), str) and url:
        return url if is_safe_target(url, at=placement.summary) else f"/./{url.lstrip('./')}"
    names = {key: str(target[key]) for key in ("space", "page", "file", "anchor") if target.get(key)}
    if "space" in names:
        anchor = f"#{names['anchor']}" if "anchor" in names else ""
        return APP + "/".join(names[key] for key in ("space", "page") if key in names) + anchor
    if names.get("file") in placement.files:
        return relative(placement.files[names["file"]], at=placement.summary)
    kind = "files" if "file" in names else "pages"
    return f"/broken/{kind}/{names.get('file') or names.get('page') or ''}"


def match(pages: tuple[Page, ...], entries: tuple[Entry, ...], *, settings: Settings = _USUAL) -> dict[str, str]:
    """Given a page tree and a SUMMARY tree, return the file of each page that can be told with confidence, by page id.

    Shapes: level by level below matched parents: first the same path, then the same slug, then the same title, each
    only where it is unique on both sides. For recovery when ids were lost.
    """
    found: dict[str, str] = {}
    pending = [(pages, entries)]
    while pending:
        for page, entry in _alike(*pending.pop(), settings):
            if entry.path is not None:
                found[page.id] = entry.path
            if page.pages and entry.children:
                pending.append((page.pages, entry.children))
    return found


def _alike(pages: tuple[Page, ...], entries: tuple[Entry, ...], settings: Settings) -> Iterator[tuple[Page, Entry]]:
    """Pairs among the children of two matched parents."""
    left = {id(page): page for page in pages if page.type in ("document", "group")}
    right = {id(entry): entry for entry in entries if entry.kind in ("document", "group") and entry.anchor is None}
    by_slug = partial(_slug_of_entry, settings=settings)
    for of_page, of_entry in ((_path_of_page, _path_of_entry), (_slug_of_page, by_slug), (_name, _title)):
        ours = _unique((of_page(page), page) for page in left.values())
        theirs = _unique((of_entry(entry), entry) for entry in right.values())
        for key, page in ours.items():
            if key in theirs:
                del left[id(page)], right[id(theirs[key])]
                yield page, theirs[key]


def _unique(items: Iterable[tuple[tuple[str, str] | None, Item]]) -> dict[tuple[str, str], Item]:
    """The items whose key no other has."""
    found: dict[tuple[str, str], Item] = {}
    twice: set[tuple[str, str]] = set()
    for key, item in items:
        if key in found:
            twice.add(key)
        elif key is not None:
            found[key] = item
    return {key: item for key, item in found.items() if key not in twice}


def _path_of_page(page: Page) -> tuple[str, str] | None:
    return (page.type, page.git.path) if page.git else None


def _path_of_entry(entry: Entry) -> tuple[str, str] | None:
    return (entry.kind, entry.path) if entry.path else None


def _slug_of_page(page: Page) -> tuple[str, str] | None:
    return (page.type, page.slug) if page.slug else None


def _slug_of_entry(entry: Entry, *, settings: Settings) -> tuple[str, str] | None:
    slug = page_slug(entry.path, settings=settings) if entry.path else entry.slug or slugify(entry.title)
    return (entry.kind, slug) if slug else None


def _name(page: Page) -> tuple[str, str] | None:
    return page.type, clean_title(page.title)


def _title(entry: Entry) -> tuple[str, str] | None:
    return entry.kind, clean_title(entry.title)
