"""Files to a tree: what is listed, what is missing, what is only there."""

from collections.abc import Mapping

import pytest

from syncd.errors import FileInvalid
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.settings import Settings, derive_page_slug
from syncd.layout.tree.summary import Entry, walk_entries

FILES = {
    "README.md": b"# Home\n\n![logo](images/logo.png) [code](src/main.go) [d](a/c.md)\n"
    b"[env](.env) [secret](.github/x.yml)\n",
    "SUMMARY.md": b"* [Home](README.md)\n* [A](a/README.md)\n  * [B b](a/b%20b.md)\n  * [Again](README.md)\n"
    b"  * [To](a/c.md#x)\n  * [Gone](a/gone.md)\n* [File](files/x.pdf)\n",
    "a/README.md": b"---\ncover: ../images/cover.png\n---\n# A\n",
    "a/b b.md": b'# B\n\n```\n[x](../images/code.png)\n```\n<img src="../images/b%201.png">\n',
    "a/c.md": b"[x](../images/unlisted.png)\n",
    "images/logo.png": b"1",
    "images/cover.png": b"2",
    "images/code.png": b"3",
    "images/b 1.png": b"4",
    "images/unlisted.png": b"5",
    "src/main.go": b"6",
    ".env": b"7",
    ".github/x.yml": b"8",
    ".github/README.md": b"9",
    "files/x.pdf": b"10",
    ".gitbook/assets/z (1).svg": b"11",
    ".gitbook/assets/note.md": b"12",
    ".gitbook/includes/i.md": b"---\ntitle: I\n---\n\n![x](../../images/unlisted.png)\n",
    ".gitbook/vars.yaml": b"a: 1\n",
    ".gitbook/tags.yaml": b"- tag: x\n",
}


def _draft(files: Mapping[str, bytes], *, links: bool = True) -> Draft:
    return read_draft(files.keys(), files.__getitem__, links=links)


def test_a_draft_says_what_the_files_say() -> None:
    draft = _draft(FILES)
    assert draft.documents == ("README.md", "a/README.md", "a/b b.md")
    assert [entry.path for entry in draft.missing] == ["a/gone.md"]
    assert draft.unlisted == ("a/c.md",)
    assert draft.includes == (".gitbook/includes/i.md",)
    assert draft.variables == {"a": 1}
    assert draft.tags == ({"slug": "x", "label": "x", "color": "default"},)
    assert not draft.is_inferred
    assert [entry.path for entry, _ in walk_entries(draft.entries)] == [
        *("README.md", "a/README.md", "a/b b.md", "README.md", "a/c.md", "a/gone.md", None)
    ]


def test_files_are_assets_and_what_pages_link_to_but_nothing_hidden() -> None:
    assets = (".gitbook/assets/note.md", ".gitbook/assets/z (1).svg")
    linked = (
        "files/x.pdf",
        "images/b 1.png",
        "images/cover.png",
        "images/logo.png",
        "images/unlisted.png",
        "src/main.go",
    )
    assert _draft(FILES).files == (*assets, *linked)
    assert _draft(FILES, links=False).files == (*assets, "files/x.pdf")


def test_paths_stay_relative_to_the_directory_when_settings_name_a_root() -> None:
    files = {
        ".gitbook.yaml": b"root: ./docs/\nstructure:\n  readme: intro.md\n  summary: toc/SUMMARY.md\n",
        "docs/toc/SUMMARY.md": b"* [Home](../intro.md)\n* [X](../x/README.md)\n* [Out](../../README.md)\n",
        "docs/intro.md": b"![a](.gitbook/assets/a.png)\n",
        "docs/x/README.md": b"",
        "docs/y.md": b"",
        "docs/.gitbook/assets/a.png": b"",
        "docs/.gitbook/vars.yaml": b"a: b\n",
        "README.md": b"",
    }
    draft = _draft(files)
    assert draft.documents == ("docs/intro.md", "docs/x/README.md")
    assert draft.files == ("docs/.gitbook/assets/a.png",)
    assert draft.unlisted == ("docs/y.md",)
    assert [entry.title for entry in draft.missing] == ["Out"]
    assert draft.variables == {"a": "b"}
    slugs = [
        derive_page_slug(path, settings=draft.settings)
        for path in ("docs/intro.md", "docs/x/README.md", "docs/y.md", "docs/README.md")
    ]
    assert slugs == ["", "x", "y", "README"]


def test_slugs_come_from_files() -> None:
    usual = Settings()
    paths = ("README.md", "a.md", "a/README.md", "a/readme.md", "a/b.c.md")
    assert [derive_page_slug(path, settings=usual) for path in paths] == ["", "a", "a", "a", "b.c"]
    odd = ("a 1.md", "ü/Ü.md", "n8%20y.md", "a#b.md", "what?.md", "日本.md", "%.md", f"{'a' * 101}.md")
    slugs = [derive_page_slug(path, settings=usual) for path in odd]
    assert slugs == ["a 1", "Ü", "n8-20y", "a-b", "what", "日本", "page", "a" * 100]


def test_without_a_summary_folders_are_the_tree() -> None:
    files = {
        "zoo.md": b"# The zoo\n",
        "README.md": b"# Home\n",
        "guides/README.md": b"# Guides\n",
        "guides/first-steps.md": b"no heading\n",
        "guides/deep/er/x.md": b"# X\n",
        "api/v2_beta/y.md": b"# Y\n",
        "api.md": b"# The API\n",
        "Lone Folder/one.md": b"# One\n",
        "logo.png": b"",
        ".github/README.md": b"",
        ".gitbook/includes/i.md": b"",
    }
    draft = _draft(files)
    assert draft.is_inferred
    api = Entry("document", "The API", "api.md")
    beta = Entry("group", "V2 beta", slug="v2_beta", children=(Entry("document", "Y", "api/v2_beta/y.md"),))
    deeper = Entry("group", "Er", children=(Entry("document", "X", "guides/deep/er/x.md"),))
    deep = Entry("group", "Deep", children=(deeper,))
    assert draft.entries == (
        Entry("document", "Home", "README.md"),
        Entry("group", "Lone Folder", slug="Lone Folder", children=(Entry("document", "One", "Lone Folder/one.md"),)),
        Entry("document", api.title, api.path, children=(beta,)),
        Entry(
            "document",
            "Guides",
            "guides/README.md",
            children=(deep, Entry("document", "First steps", "guides/first-steps.md")),
        ),
        Entry("document", "The zoo", "zoo.md"),
    )
    assert draft.unlisted == ()
    assert set(draft.documents) == {path for path in files if path.endswith(".md") and not path.startswith(".")}


def test_a_folder_with_two_pages_for_itself_keeps_both() -> None:
    draft = _draft({"a.md": b"# One", "a/README.md": b"# Two", "a/b.md": b"# B"})
    assert set(draft.documents) == {"a.md", "a/README.md", "a/b.md"}


def test_the_table_of_contents_of_a_folder_below_is_no_page() -> None:
    draft = _draft({"docs/README.md": b"# Docs", "docs/SUMMARY.md": b"* [Docs](README.md)", "docs/summary.md": b"# S"})
    assert draft.is_inferred
    assert draft.documents == ("docs/README.md",)
    assert draft.unlisted == ("docs/SUMMARY.md", "docs/summary.md")


def test_an_empty_directory_is_an_empty_draft() -> None:
    draft = _draft({})
    assert (draft.entries, draft.documents, draft.files, draft.is_inferred) == ((), (), (), True)


@pytest.mark.parametrize(
    ("path", "data", "line", "column"),
    [
        ("SUMMARY.md", b"# T\n\n* [A\xff](a.md)\n", 3, 5),
        (".gitbook.yaml", b"root: [\n", 2, 1),
        (".gitbook/vars.yaml", b"a: 1\nb: [1]\n", 2, 1),
        (".gitbook/tags.yaml", b"a: 1\n", 1, 1),
    ],
)
def test_a_file_that_cannot_be_read_is_named(path: str, data: bytes, line: int, column: int) -> None:
    with pytest.raises(FileInvalid) as refusal:
        _draft({"README.md": b"", path: data})
    assert (refusal.value.path, refusal.value.line, refusal.value.column) == (path, line, column)


def test_pages_that_are_not_utf8_do_not_stop_a_draft() -> None:
    draft = _draft({"README.md": b"# \xff\n[x](x.png)\n", "x.png": b""})
    assert draft.files == ("x.png",)
