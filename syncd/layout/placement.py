"""From a revision to paths: where each page, file and reusable content lives in a repository."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import splitext
from typing import Any, NamedTuple, TypeVar

from syncd.errors import PathRefused
from syncd.layout import yaml
from syncd.layout.draft import ASSETS, INCLUDES, page_slug
from syncd.layout.inline import one_line
from syncd.layout.links import relative
from syncd.layout.paths import GITBOOK, collision_key, is_markdown, safe_path, safe_segment, slugify, tag
from syncd.layout.settings import Settings
from syncd.layout.summary import Entry, assemble
from syncd.layout.variables import TAGS, VARIABLES
from syncd.model.page import Page
from syncd.model.revision import Revision

Item = TypeVar("Item", Page, Entry)

SUMMARY = "SUMMARY.md"
APP = "https://app.gitbook.com/s/"
DERIVED_CHARACTERS = 512
"""A path that we choose stays well below what any system can check out."""
MARKED_BYTES = 160
"""A longer name leaves no room for an id."""
EXTENSION_CHARACTERS = 12
"""What follows the last dot of a name is no extension when it is longer."""

_RESERVED = (SUMMARY, VARIABLES, TAGS)
_USUAL = Settings()
_COMPUTED = ("type", "props", "dependencies")


@dataclass(frozen=True)
class Known:
    """The base: repository path of a page or file, and the platform-side form it was derived from, as last seen."""

    path: str
    form: str


@dataclass(frozen=True)
class Placement:
    """Paths by id; `mapped` names each (id, what the platform asked for, path used) where a name had to be changed."""

    pages: Mapping[str, str]
    files: Mapping[str, str]
    includes: Mapping[str, str]
    forms: Mapping[str, str]
    mapped: tuple[tuple[str, str, str], ...] = ()
    variables: str | None = None
    tags: str | None = None


class _Wish(NamedTuple):
    """What the platform asks for: `given` when it names the path itself (`git.path`)."""

    id: str
    kind: str
    form: str
    given: bool


def place(revision: Revision, *, known: Mapping[str, Known] = {}, readme: str = "README.md") -> Placement:
    """Given a revision and the base, return a safe, collision-free path for everything in it.

    Shapes: a known path stays while its form does; else `git.path`, when it is safe; else the path of the page with
    `.md`, or `/README.md` when documents are below it, and `readme` for the first top-level document;
    `.gitbook/assets/<name>`; `.gitbook/includes/<title>.md`. Deterministic and linear.
    """
    wishes = [*_pages(revision.pages, readme), *_files(revision), *_includes(revision)]
    settled = _Settler(wishes, known).settle()
    by_kind: dict[str, dict[str, str]] = {"page": {}, "file": {}, "include": {}}
    forms: dict[str, str] = {}
    for wish in wishes:
        if wish.id not in forms:
            forms[wish.id] = wish.form
            by_kind[wish.kind][wish.id] = settled.paths[wish.id]
    return Placement(
        pages=by_kind["page"],
        files=by_kind["file"],
        includes=by_kind["include"],
        forms=forms,
        mapped=tuple(settled.mapped),
        variables=VARIABLES if revision.variables else None,
        tags=TAGS if revision.tags else None,
    )


def _pages(pages: tuple[Page, ...], readme: str) -> Iterator[_Wish]:
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
                yield _Wish(page.id, "page", git.path, True)
            elif page is home:
                yield _Wish(page.id, "page", readme, False)
            else:
                below = children and any(child.type == "document" for child in children)
                yield _Wish(page.id, "page", f"{path.strip('/')}{'/README.md' if below else '.md'}", False)
        if children:
            pending.extend((child, path) for child in reversed(children))


def _files(revision: Revision) -> Iterator[_Wish]:
    for file in revision.files:
        yield _Wish(file.id, "file", file.git.path if file.git else ASSETS + file.name, file.git is not None)


def _includes(revision: Revision) -> Iterator[_Wish]:
    for content in revision.reusable_contents:
        form = content.git.path if content.git else f"{INCLUDES}{slugify(content.title)}.md"
        yield _Wish(content.id, "include", form, content.git is not None)


class _Settler:
    """Gives out paths, each only once on any disk: by collision key, and never a file where a folder must be."""

    def __init__(self, wishes: list[_Wish], known: Mapping[str, Known]) -> None:
        self.wishes, self.known = wishes, known
        self.paths: dict[str, str] = {}
        self.mapped: list[tuple[str, str, str]] = []
        self.taken: set[str] = set()
        self.folders: set[str] = set()
        self.numbers: dict[str, int] = {}
        for path in _RESERVED:
            self.claim(path)

    def settle(self) -> "_Settler":
        rest = []
        for wish in self.wishes:
            base = self.known.get(wish.id)
            if base is None or base.form != wish.form or wish.id in self.paths or not self.claim(base.path):
                rest.append(wish)
            else:
                self.paths[wish.id] = base.path
        for given in (True, False):
            for wish in rest:
                if wish.given is given and wish.id not in self.paths and _is_fit(wish) and self.claim(wish.form):
                    self.paths[wish.id] = wish.form
        for wish in rest:
            if wish.id not in self.paths:
                self.paths[wish.id] = self.other(wish)
                self.mapped.append((wish.id, wish.form, self.paths[wish.id]))
        return self

    def claim(self, path: str) -> bool:
        key = collision_key(path)
        above = None if key in self.taken or key in self.folders else self.missing_folders(key)
        if above is None:
            return False
        self.taken.add(key)
        self.folders.update(above)
        return True

    def missing_folders(self, key: str) -> list[str] | None:
        """The folders above a key that do not exist yet; None when a file stands where one must be."""
        above: list[str] = []
        cut = key.rfind("/")
        while cut > 0 and (folder := key[:cut]) not in self.folders:
            if folder in self.taken:
                return None
            above.append(folder)
            cut = folder.rfind("/")
        return above

    def other(self, wish: _Wish) -> str:
        """A path for a wish that cannot be had: cleaned, then told apart by the id, or by a number as assets are."""
        clean = wish.form
        if len(clean) > DERIVED_CHARACTERS or not _is_fit(wish):
            clean = _clean(wish)
        if self.missing_folders(collision_key(clean)) is None:
            clean = self.beside(wish, clean)
        if clean != wish.form and self.claim(clean):
            return clean
        folder, stem, extension = _parts(clean)
        if wish.kind == "file":
            lead, tail = f"{folder}{stem} (", f"){extension}"
        else:
            lead, tail = f"{folder}{stem}-{tag(wish.id)}", extension
            if self.claim(lead + tail):
                return lead + tail
            lead += "-"
        while True:
            self.numbers[lead] = number = self.numbers.get(lead, 0) + 1
            if self.claim(path := f"{lead}{number}{tail}"):
                return path

    def beside(self, wish: _Wish, path: str) -> str:
        """Another folder for a path whose own is a file, the same for every page in it."""
        folder, _, name = path.rpartition("/")
        if wish.kind != "page":
            return _clean(wish)
        path = f"{slugify(folder)}-{_digest(folder)}/{name}"
        return name if self.missing_folders(collision_key(path)) is None else path


def _is_fit(wish: _Wish) -> bool:
    """Whether a form can be the path: safe, of the right kind, and in a folder where its kind may live."""
    form, home = wish.form, {"page": "", "file": ASSETS, "include": INCLUDES}[wish.kind]
    if form.startswith(f"{GITBOOK}/") and not (home and form.startswith(home)):
        return False
    if wish.kind != "file" and not is_markdown(form):
        return False
    if not wish.given and len(form) > DERIVED_CHARACTERS:
        return False
    try:
        return bool(safe_path(form))
    except PathRefused:
        return False


def _clean(wish: _Wish) -> str:
    """The nearest safe path: pages keep their folders, files and includes go to the folder of their kind."""
    if wish.kind == "page" and len(wish.form) > DERIVED_CHARACTERS:
        return f"{tag(wish.id)}.md"
    segments = [segment for segment in wish.form.split("/") if segment not in ("", ".", "..")]
    *folders, name = segments or [""]
    if wish.kind == "file":
        return ASSETS + safe_segment(name, fallback=wish.id)
    name = safe_segment(name if is_markdown(name) else f"{name}.md", fallback=wish.id)
    name = name if is_markdown(name) else f"{name}.md"
    if wish.kind == "include":
        return INCLUDES + name
    # A folder has no id, and its name must come out the same for every page in it.
    return "/".join([*(safe_segment(folder, fallback=_digest(folder)) for folder in folders), name])


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _parts(path: str) -> tuple[str, str, str]:
    """Where a mark goes: before the extension, or behind the folder that a README stands for; long names are cut."""
    if path.endswith("/README.md"):
        path, extension = path.removesuffix("/README.md"), "/README.md"
    else:
        path, extension = splitext(path)
        if len(extension) > EXTENSION_CHARACTERS:
            path, extension = path + extension, ""
    folder, slash, stem = path.rpartition("/")
    return folder + slash, stem if len(stem.encode()) <= MARKED_BYTES else slugify(stem), extension


def entries_of(revision_pages: tuple[Page, ...], placement: Placement) -> tuple[Entry, ...]:
    """Given a revision's pages and their placement, return the entries of its SUMMARY.md.

    Shapes: a link to a page or file of the space is written as a relative path; one that nothing resolves as the
    platform writes it, `/broken/…`. Pages below a computed page are generated and stay out.
    """
    return assemble(revision_pages, _children, lambda page, below: _entry(page, below, placement))


def _children(page: Page) -> tuple[Page, ...]:
    return () if page.type == "computed" else page.pages


def _entry(page: Page, below: tuple[Entry, ...], placement: Placement) -> Entry:
    if page.type == "document":
        path = relative(placement.pages[page.id], at=SUMMARY)
        return Entry("document", page.title, path, link_title=page.link_title, children=below)
    if page.type == "computed":
        return Entry("computed", "", computed=_computed(page.computed or {}))
    if page.type == "link":
        return _link(page, below, placement)
    slug = page.slug if page.slug and page.slug != slugify(page.title) else None
    return Entry("group", page.title, slug=slug, children=below)


def _computed(tree: Mapping[str, Any]) -> str:
    """The YAML of a computed tree, keys in the order in which the platform exports them."""
    ordered = {key: tree[key] for key in _COMPUTED if key in tree}
    return yaml.dump({**ordered, **tree}).rstrip("\n")


def _link(page: Page, below: tuple[Entry, ...], placement: Placement) -> Entry:
    target = page.target or {}
    path = placement.pages.get(str(target.get("page"))) if "space" not in target else None
    if path is not None:
        anchor = str(target["anchor"]) if target.get("anchor") else None
        address = relative(path, at=SUMMARY)
        return Entry("document", page.title, address, anchor, link_title=page.link_title, children=below)
    return Entry("link", page.title, link_title=page.link_title, target=_address(target, placement), children=below)


def _address(target: Mapping[str, Any], placement: Placement) -> str:
    """The address of what a link page leads to, page of another space, file or URL."""
    if isinstance(url := target.get("url"), str) and url:
        return url
    names = {key: str(target[key]) for key in ("space", "page", "file", "anchor") if target.get(key)}
    if "space" in names:
        anchor = f"#{names['anchor']}" if "anchor" in names else ""
        return APP + "/".join(names[key] for key in ("space", "page") if key in names) + anchor
    if names.get("file") in placement.files:
        return relative(placement.files[names["file"]], at=SUMMARY)
    kind = "files" if "file" in names else "pages"
    return f"/broken/{kind}/{names.get('file') or names.get('page') or ''}"


def match(pages: tuple[Page, ...], entries: tuple[Entry, ...]) -> dict[str, str]:
    """Given a page tree and a SUMMARY tree, return the file of each page that can be told with confidence, by page id.

    Shapes: level by level below matched parents: first the same path, then the same slug, then the same title, each
    only where it is unique on both sides. For recovery when ids were lost.
    """
    found: dict[str, str] = {}
    pending = [(pages, entries)]
    while pending:
        for page, entry in _alike(*pending.pop()):
            if entry.path is not None:
                found[page.id] = entry.path
            if page.pages and entry.children:
                pending.append((page.pages, entry.children))
    return found


def _alike(pages: tuple[Page, ...], entries: tuple[Entry, ...]) -> Iterator[tuple[Page, Entry]]:
    """Pairs among the children of two matched parents."""
    left = {id(page): page for page in pages if page.type in ("document", "group")}
    right = {id(entry): entry for entry in entries if entry.kind in ("document", "group") and entry.anchor is None}
    for of_page, of_entry in ((_path_of_page, _path_of_entry), (_slug_of_page, _slug_of_entry), (_name, _title)):
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


def _slug_of_entry(entry: Entry) -> tuple[str, str] | None:
    slug = page_slug(entry.path, settings=_USUAL) if entry.path else entry.slug or slugify(entry.title)
    return (entry.kind, slug) if slug else None


def _name(page: Page) -> tuple[str, str] | None:
    return page.type, one_line(page.title)


def _title(entry: Entry) -> tuple[str, str] | None:
    return entry.kind, one_line(entry.title)
