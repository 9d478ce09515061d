"""Names from outside: each is refused as a path, and mapped to a safe name where one is needed."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import PathRefused
from syncd.layout.tree.paths import check_safe_path, is_same_page, make_collision_key, make_safe_segment, slugify
from syncd.layout.tree.placement import Placement, assign_paths
from syncd.model.file import File, GitBlob
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision

HOSTILE = [
    *("../x", "a/../../x", "./x", "a/./b", "/etc/passwd", "a//b", "a/", "", ".", "..", "..."),
    *(".git/config", ".git/hooks/pre-commit", ".GIT/config", ".Git/x", "docs/.git/config", ".git"),
    *("git~1/config", "GIT~1/config", "gi7eba~1", ".git ", ".git.", ".git::$INDEX_ALLOCATION", ".git:x"),
    *(".g\u200cit", ".git\ufeff", ".\u200fgit", "\u202e.git", ".gi\u206at/config", ".git\\config"),
    *("..\\..\\x", "a\\b", "C:\\x", "C:/x", "\\\\srv\\s", "x:evil"),
    *(".gitattributes", ".gitmodules", ".gitignore", ".mailmap", ".lfsconfig", ".envrc", ".github/workflows/x.yml"),
    *(
        "docs/.gitattributes",
        ".gitbook.yaml",
        ".gitbook.yml",
        ".gitbook",
        ".GitBook/assets/x.png",
        ".vscode/tasks.json",
    ),
    *("a\nb", "a\rb", "a\tb", "\x1b]0;title\x07", "\x1b[2J", "a\x7f", "a\x9b", "a\x00b", "a\u2028b"),
    *("a\u202eb", "a\u200bb", "a\u2066b", "a\ufeffb", "a\u200db", "\udcff", "a\ufffd", "%c0%af", "a%2Fb", "%00"),
    *("-rf", "--upload-pack=x", ":(exclude)x", ":/x", "*.md", "@", "con", "con.md", "aux/x", "LPT1.md", "COM¹.md"),
    *("x.", "x ", "x\u00a0", "a?b", 'a"b', "a|b", "a<b", "~/x", "$HOME/x", "..%2f..%2fx", "．．/x", "․․/x", "．git/x"),
    *("a" * 300, "é" * 130, "a/" * 3000 + "x", "a／b"),
]
ORDINARY = [
    *("README.md", "guides/getting-started.md", "clock (1).svg", ".gitbook/assets/clock (1).svg", "logo@2x.png"),
    *(".gitbook/assets/a name, with & more + (1) (1).png", ".gitbook/includes/x.md", "日本語/文書.md", "Größe/é.md"),
    *(
        "e\u0301.md",
        "emoji 🚀.md",
        "100%.md",
        "c#.md",
        "什么？.md",
        "a_b-c.d.e.md",
        "[draft] x.md",
        "it's.md",
        "con-x.md",
    ),
    *("docs/.gitbook/assets/x.png", "LICENSE", "a" * 250 + ".md", "x/" * 100 + "y.md", "console.md", "git.md", "½.md"),
    "Screenshot 2024-01-01 at 1.00.00\u202fPM.png",
]


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_are_refused_as_paths(name: str) -> None:
    with pytest.raises(PathRefused) as refusal:
        check_safe_path(name)
    assert refusal.value.what.isprintable()
    assert refusal.value.what.isprintable()
    assert len(refusal.value.what) < 400


@pytest.mark.parametrize("name", ORDINARY, ids=ascii)
def test_ordinary_names_stay_as_they_are(name: str) -> None:
    assert check_safe_path(name) == name
    assert all(make_safe_segment(part, fallback="id1") == part for part in name.split("/") if part != ".gitbook")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_become_safe_segments_that_carry_the_fallback(name: str) -> None:
    segment = make_safe_segment(name, fallback="id1")
    assert check_safe_path(segment) == segment
    assert "/" not in segment
    assert "id1" in segment
    assert segment == make_safe_segment(name, fallback="id1")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_never_reach_a_placement(name: str) -> None:
    git = GitBlob(oid="0" * 40, path=name)
    revision = Revision(
        id="r",
        pages=(
            Page(id="home", title="Home"),
            Page(id="given", title="x", git=git),
            Page(id="given-md", title="x", git=GitBlob(oid="0" * 40, path=f"{name}.md")),
            Page(id="derived", title="x", path=name, pages=(Page(id="child", title="y", path=f"{name}/y"),)),
            Page(id="sluggish", title=name, slug=name, pages=(Page(id="grandchild", title=name, slug=name),)),
        ),
        files=(File(id="asset", name=name), File(id="asset-given", name="x", git=git)),
        reusable_contents=(ReusableContent(id="include", title=name), ReusableContent(id="include-given", git=git)),
    )
    placement = assign_paths(revision)
    _assert_safe(placement)
    assert len(placement.pages) == 7
    assert placement.pages["home"] == "README.md"
    assert {"given", "asset-given", "include-given"} & {mapped for mapped, _, _ in placement.replaced_paths}


PAIRS = [
    ("README.md", "readme.md"),
    ("README.md", "Readme.md"),
    ("é.md", "e\u0301.md"),
    ("straße.md", "STRASSE.md"),
    ("İ.md", "i\u0307.md"),
    ("a.md", "a.md/b.md"),
    ("Ａ.md", "ａ.md"),
    ("x-two.md", "X.md"),
]


@pytest.mark.parametrize("pair", PAIRS, ids=ascii)
def test_two_names_that_one_disk_cannot_hold_are_told_apart(pair: tuple[str, str]) -> None:
    paths = [*pair, "x.md"]
    git = [GitBlob(oid="0" * 40, path=path) for path in paths]
    pages = tuple(
        Page(id=identity, title="x", git=blob) for identity, blob in zip(("one", "two", "three"), git, strict=True)
    )
    placement = assign_paths(Revision(id="r", pages=pages))
    _assert_safe(placement)
    assert placement.pages["one"] == pair[0]


def test_keys_of_names_that_differ_on_every_disk_differ() -> None:
    names = ["i.md", "İ.md", "ı.md", "ss.md", "s.md", "a/b.md", "a-b.md"]
    assert len({make_collision_key(name) for name in names}) == len(names)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Getting started", "getting-started"),
        ("  Structs, methods & interfaces ", "structs-methods-interfaces"),
        ("Größe der Straße", "grosse-der-strasse"),
        ("Ærø – Łódź", "aero-lodz"),
        ("🚀", "page"),
        ("\x1b\u202e", "page"),
        ("a" * 300, "a" * 100),
        ("日本 2024", "2024"),
    ],
)
def test_slugs_are_lower_case_ascii(title: str, slug: str) -> None:
    assert slugify(title) == slug


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_becomes_a_safe_segment(raw: str, fallback: str) -> None:
    segment = make_safe_segment(raw, fallback=fallback)
    assert check_safe_path(segment) == segment
    assert make_safe_segment(segment, fallback="other") == segment


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=60))
def test_collision_keys_do_not_depend_on_case_or_normal_form(path: str) -> None:
    key = make_collision_key(path)
    assert key == make_collision_key(unicodedata.normalize("NFD", path))
    assert key == make_collision_key(key)
    assert re.fullmatch(r"[^A-Z]*", key)


def _assert_safe(placement: Placement) -> None:
    paths = [*placement.pages.values(), *placement.files.values(), *placement.includes.values(), "SUMMARY.md"]
    assert [check_safe_path(path) for path in paths] == paths
    keys = {make_collision_key(path) for path in paths}
    assert len(keys) == len(paths)
    folders = {key[: found.start()] for key in keys for found in re.finditer("/", key)}
    assert not keys & folders
    assert all(path.endswith(".md") for path in [*placement.pages.values(), *placement.includes.values()])
    assert not any(path.startswith(".gitbook/") for path in placement.pages.values())


@pytest.mark.parametrize(
    ("path", "other", "is_one"),
    [
        ("x.md", "x/README.md", True),
        ("a/x/README.md", "a/x.md", True),
        ("x.md", "x.md", False),
        ("x.md", "y/README.md", False),
        ("x/README.md", "x/y.md", False),
    ],
)
def test_a_page_has_one_of_two_paths_as_pages_come_below_it(path: str, other: str, *, is_one: bool) -> None:
    assert is_same_page(path, other) is is_one
