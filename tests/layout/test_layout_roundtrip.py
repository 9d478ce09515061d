"""Files to a revision and back: nothing is lost, on real documentation and on made-up trees."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import basename
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import patch_frontmatter, read_fields, read_heading, read_metadata, set_heading
from syncd.layout.page.links import rewrite_addresses
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.files import render_files
from syncd.layout.tree.path_allocator import BasePath
from syncd.layout.tree.paths import slugify
from syncd.layout.tree.placement import assign_paths, build_entries, match_pages
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, transform_entries, walk_entries
from syncd.layout.yaml import yaml
from syncd.model.file import File, GitBlob
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision

USUAL = Settings()
CORPORA = Path(__file__).parents[2].parent / "shared" / "corpora"

SMALL: dict[str, dict[str, str]] = {
    "plain": {
        "SUMMARY.md": "# Table of contents\n\n* [Home](README.md)\n",
        "README.md": "# Home\n",
    },
    "full": {
        "SUMMARY.md": (
            "# Table of contents\n\n* [Welcome](README.md)\n\n## Guides\n\n* [Start](guides/start/README.md)\n"
            '  * [Install & run](guides/start/install.md "Install")\n* [A \\[draft\\]](<guides/a draft (1).md>)\n'
            "* [Elsewhere](https://example.com/x)\n\n"
            '## API <a href="#own" id="own"></a>\n\n* [Overview](own/README.md)\n* ```yaml\n  type: builtin:openapi\n'
            "  props:\n    models: false\n  dependencies:\n    spec:\n      ref:\n        kind: openapi\n  ```\n\n"
            "***\n\n* [Imprint](imprint.md)\n"
        ),
        "README.md": "---\nicon: house\ncover: .gitbook/assets/a (1).svg\n---\n\n# Welcome\n\n[x](guides/start/)\n",
        "guides/start/README.md": "---\ndescription: >-\n  Folded by hand,\n  not by us.\n---\n\n# Start\n",
        "guides/start/install.md": "# Install & run\r\n\r\n![x](../../images/run.png)\r\n",
        "guides/a draft (1).md": "no heading\n",
        "own/README.md": '\ufeff# Overview\n\n{% include "../.gitbook/includes/note.md" %}\n',
        "imprint.md": "",
        "unlisted.md": "# Not published\n",
        "images/run.png": "\x89PNG",
        "images/unused.png": "x",
        ".gitbook/assets/a (1).svg": "<svg/>",
        ".gitbook/assets/photo@2x": "x",
        ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nA note.\n",
        ".gitbook/vars.yaml": "node_pkg: '@evolve/node'\nrate: 500\nfee: 2.0\nanswer: 'no'\n",
        ".gitbook/tags.yaml": "- tag: payments\n  label: Payments\n  icon: credit-card\n",
    },
    "only groups": {
        "SUMMARY.md": "# Table of contents\n\n## One\n\n* [A](one/a.md)\n\n## Empty\n\n## Two\n\n* [B](two/b.md)\n",
        "one/a.md": "# A\n",
        "two/b.md": "# B\n",
    },
}


def _spaces() -> dict[str, dict[str, bytes]]:
    spaces = {name: {path: text.encode() for path, text in files.items()} for name, files in SMALL.items()}
    for summary in sorted(CORPORA.rglob("SUMMARY.md")) if CORPORA.is_dir() else ():
        found = (path for path in summary.parent.rglob("*") if path.is_file())
        name = summary.parent.relative_to(CORPORA).as_posix()
        spaces[name] = {path.relative_to(summary.parent).as_posix(): path.read_bytes() for path in found}
    return spaces


SPACES = _spaces()


@dataclass(frozen=True)
class Space:
    """A space as a platform would hold it: the revision, and what is where it came from."""

    revision: Revision
    paths: dict[str, str]


def id_of(kind: str, path: str) -> str:
    """Return the id that the thing at a path has."""
    return f"{kind}-{quote(path, safe='')}"


def _draft(files: Mapping[str, bytes]) -> Draft:
    return read_draft(files.keys(), files.__getitem__)


def _space(files: Mapping[str, bytes], draft: Draft, *, git: bool) -> Space:
    """The revision that an import makes of a draft; without git, paths are left for the layout to derive."""
    paths: dict[str, str] = {}
    own: dict[str, int] = {}
    for entry, _ in walk_entries(draft.entries):
        if entry.path is not None and entry.anchor is None:
            own.setdefault(entry.path, id(entry))

    def blob(path: str) -> GitBlob | None:
        return GitBlob(oid="0" * 40, path=path) if git else None

    def build(entry: Entry, below: tuple[Page, ...]) -> Page:
        if entry.kind == "computed":
            return Page(id=f"c-{id(entry)}", type="computed", computed=yaml.load(entry.computed or "", at="x"))
        if entry.kind == "group":
            return Page(
                id=f"g-{id(entry)}",
                type="group",
                title=entry.title,
                slug=entry.slug or slugify(entry.title),
                pages=below,
            )
        if entry.path is None or own.get(entry.path) != id(entry):
            target = _target(entry, draft)
            return Page(
                id=f"l-{id(entry)}",
                type="link",
                title=entry.title,
                target=target,
                pages=below,
                link_title=entry.link_title,
            )
        paths[identity := id_of("page", entry.path)] = entry.path
        described = read_metadata(files[entry.path].decode(), at=entry.path)
        slug = derive_page_slug(entry.path, settings=draft.settings)
        known = {"id": identity, "title": entry.title, "slug": slug or None, "linkTitle": entry.link_title}
        return Page.model_validate({**known, **described, "pages": below, "git": blob(entry.path)})

    pages = _assemble(draft.entries, build)
    uploads = tuple(File(id=id_of("file", path), name=basename(path), git=blob(path)) for path in draft.files)
    includes = []
    for path in draft.includes:
        title = str(read_fields(files[path].decode(), at=path).get("title", basename(path).removesuffix(".md")))
        includes.append(ReusableContent(id=id_of("include", path), title=title, git=blob(path)))
    paths |= {id_of("file", path): path for path in draft.files}
    paths |= {id_of("include", path): path for path in draft.includes}
    revision = Revision(
        id="r",
        pages=pages,
        files=uploads,
        reusable_contents=tuple(includes),
        variables=draft.variables,
        tags=draft.tags,
    )
    return Space(revision, paths)


def _target(entry: Entry, draft: Draft) -> dict[str, str]:
    """What an import makes of an entry that is no page."""
    if entry.path is not None:
        return {"kind": "page", "page": id_of("page", entry.path)} | ({"anchor": entry.anchor} if entry.anchor else {})
    found = resolve_address(entry.target or "", at=draft.settings.add_root(draft.settings.summary))
    if found is not None and found[0] in draft.files:
        return {"kind": "file", "file": id_of("file", found[0])}
    return {"kind": "url", "url": entry.target or ""}


def _assemble(entries: tuple[Entry, ...], build: Callable[[Entry, tuple[Page, ...]], Page]) -> tuple[Page, ...]:
    return tuple(build(entry, _assemble(entry.children, build)) for entry in entries)


def _rendered(
    files: Mapping[str, bytes], space: Space, known: Mapping[str, BasePath] | None = None, settings: Settings = USUAL
) -> dict[str, bytes]:
    placement = assign_paths(space.revision, base=known or {}, settings=settings)
    return dict(render_files(space.revision, lambda identity: files[space.paths[identity]], placement))


@pytest.mark.parametrize("name", SPACES)
def test_a_space_comes_back_byte_for_byte(name: str) -> None:
    files = SPACES[name]
    draft = _draft(files)
    assert draft.missing == ()
    rendered = _rendered(files, _space(files, draft, git=True))
    expected = {"SUMMARY.md", *draft.documents, *draft.files, *draft.includes}
    expected |= {path for path in (".gitbook/vars.yaml", ".gitbook/tags.yaml") if path in files}
    assert rendered == {path: files[path] for path in expected}


@pytest.mark.parametrize("name", SPACES)
def test_without_paths_of_its_own_a_space_settles_after_one_trip(name: str) -> None:
    files = SPACES[name]
    once = _rendered(files, _space(files, _draft(files), git=False))
    draft = _draft(once)
    given_paths = _rendered(files, _space(files, _draft(files), git=True))
    bodies = [sorted(body for path, body in trip.items() if path != "SUMMARY.md") for trip in (given_paths, once)]
    assert bodies[0] == bodies[1]
    twice = _rendered(once, _space(once, draft, git=False))
    assert twice == once


@pytest.mark.parametrize("name", SPACES)
def test_lost_ids_are_found_again(name: str) -> None:
    draft = _draft(SPACES[name])
    space = _space(SPACES[name], draft, git=False)
    pages = {identity: path for identity, path in space.paths.items() if identity.startswith("page-")}
    assert match_pages(space.revision.pages, draft.entries) == pages


@pytest.mark.parametrize("name", SPACES)
def test_pages_keep_their_bytes_when_nothing_about_them_changes(name: str) -> None:
    files = SPACES[name]
    for path in _draft(files).documents:
        text = files[path].decode()
        assert patch_frontmatter(text, read_fields(text, at=path)) == text
        assert rewrite_addresses(text, lambda address: address) == text
        assert (title := read_heading(text)) is None or set_heading(text, title) == text


@pytest.mark.parametrize("name", SPACES)
def test_known_paths_outlive_everything(name: str) -> None:
    files = SPACES[name]
    space = _space(files, _draft(files), git=False)
    forms = assign_paths(space.revision).platform_paths
    known = {identity: BasePath(path, forms[identity]) for identity, path in space.paths.items()}
    rendered = _rendered(files, space, known)
    assert {path: rendered[path] for path in space.paths.values()} == {
        path: files[path] for path in space.paths.values()
    }


TITLE = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=20).map(
        lambda title: title.strip(" ")
    ),
    st.sampled_from(["a [b] \\c", "🚀", "con", "README", "# x #", "***", "`x`", "日本", "[x](y)"]),
)
SLUG = st.one_of(
    st.none(), TITLE, st.sampled_from(["..", ".git", "a/b", "a", "A", "readme", "x.", "con", "é", "e\u0301", "a:b"])
)
COMPUTED = st.sampled_from(
    [{"type": "x"}, {"type": "builtin:openapi", "props": {"models": False}, "dependencies": {"spec": {"n": 1}}}]
)


TARGET = st.one_of(
    st.sampled_from(
        [
            "https://x.y/z",
            "https://a b.c/(",
            "/broken/pages/x",
            "https://app.gitbook.com/s/S/a/b#c",
            "../x",
            "../a.md",
            "b.md",
        ]
    ).map(lambda url: {"kind": "url", "url": url}),
    st.sampled_from([{"kind": "file", "file": "upload"}, {"kind": "file", "file": "gone"}]),
    st.builds(
        lambda page, anchor: {"kind": "page", "page": page} | anchor,
        st.sampled_from(["p-0", "p-1", "p-2-0", "p-3"]),
        st.sampled_from([{}, {"anchor": "a"}, {"anchor": "b c"}]),
    ),
)


@st.composite
def _pages(draw: st.DrawFn, depth: int = 0) -> tuple[Page, ...]:
    pages = []
    for _ in range(draw(st.integers(0, 4 if depth == 0 else 2))):
        kind = draw(st.sampled_from(["document", "document", "group", "link", "computed"]))
        if kind == "computed":
            pages.append(Page(id="-", type=kind, computed=draw(COMPUTED)))
            continue
        below = draw(_pages(depth + 1)) if depth < 3 else ()
        title, slug, link_title = draw(TITLE), draw(SLUG), draw(st.one_of(st.none(), TITLE))
        if kind == "link":
            target = draw(TARGET)
            pages.append(Page(id="-", type=kind, title=title, target=target, link_title=link_title, pages=below))
        else:
            linked = link_title if kind == "document" else None
            pages.append(Page(id="-", type=kind, title=title, slug=slug, link_title=linked, pages=below))
    return tuple(pages)


def _numbered(pages: tuple[Page, ...], above: str = "p") -> tuple[Page, ...]:
    names = [f"{above}-{number}" for number in range(len(pages))]
    return tuple(
        page.amend(id=name, pages=_numbered(page.pages, name)) for page, name in zip(pages, names, strict=True)
    )


Variables = dict[str, str | bool | int]
Whole = tuple[tuple[Page, ...], Variables, str, str]

WHOLES = st.tuples(
    _pages().map(_numbered),
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,9}", fullmatch=True), st.one_of(TITLE, st.booleans(), st.integers(-99, 99))
    ),
    st.sampled_from(["", "docs", "docs/en"]),
    st.sampled_from(["SUMMARY.md", "toc/SUMMARY.md"]),
)
"""The pages of a space, its variables, the directory of its files and its table of contents there."""


@settings(deadline=None, max_examples=15)
@given(WHOLES)
def test_any_page_tree_survives_the_way_through_files(whole: Whole) -> None:
    assert_survives(*whole)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(deadline=None, max_examples=500)
@given(WHOLES)
def test_many_page_trees_survive_the_way_through_files(whole: Whole) -> None:
    assert_survives(*whole)


def assert_survives(pages: tuple[Page, ...], variables: Variables, root: str, summary: str) -> None:
    settings_of = Settings(root=root, summary=summary)
    upload = File(id="upload", name="a [b] (1).pdf")
    revision = Revision(id="r", pages=pages, files=(upload,), variables=dict(variables))
    placement = assign_paths(revision, settings=settings_of)
    files = dict(render_files(revision, lambda identity: f"# {identity}\n".encode(), placement))
    files[".gitbook.yaml"] = f"root: ./{root}\nstructure:\n  summary: {summary}\n".encode()
    draft = _draft(files)
    assert draft.missing == ()
    assert _located(build_entries(revision.pages, placement), placement.summary) == draft.entries
    assert sorted(draft.documents) == sorted(placement.pages.values())
    assert draft.variables == variables
    again = _rendered(files, _space(files, draft, git=True), settings=settings_of)
    assert again | {".gitbook.yaml": files[".gitbook.yaml"]} == files


def _located(entries: tuple[Entry, ...], summary: str) -> tuple[Entry, ...]:
    """Entries with paths below the space's directory, as a draft has them."""

    def located(entry: Entry) -> Entry:
        found = resolve_address(entry.path, at=summary) if entry.path else None
        return replace(entry, path=found[0]) if found else entry

    return transform_entries(entries, located)
