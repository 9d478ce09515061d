"""Where things live: stable, free of collisions, and cheap when nothing changed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.tree.path_allocator import BasePath
from syncd.layout.tree.paths import check_safe_path, make_collision_key
from syncd.layout.tree.placement import Placement, assign_paths, build_entries, match_pages
from syncd.layout.tree.settings import Settings
from syncd.layout.tree.summary import Entry, parse_summary, render_summary, walk_entries
from syncd.model.file import File, GitBlob
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision
from tests.growing import TIMES, assert_linear

COUNT = 20_000


def _git(path: str) -> GitBlob:
    return GitBlob(oid="0" * 40, path=path)


def _big(count: int, *, git: bool) -> Revision:
    groups = []
    for group in range(count // 100):
        paths = [f"group-{group}/page-{number}" for number in range(100)]
        pages = tuple(
            Page(id=f"p-{path}", title=path, path=path, git=_git(f"{path}.md") if git else None) for path in paths
        )
        groups.append(Page(id=f"g-{group}", type="group", title=f"Group {group}", path=f"group-{group}", pages=pages))
    return Revision(id="r", pages=tuple(groups))


def _known(placement: Placement) -> dict[str, BasePath]:
    paths = {**placement.pages, **placement.files, **placement.includes}
    return {identity: BasePath(path, placement.platform_paths[identity]) for identity, path in paths.items()}


def test_derived_paths_follow_the_platforms_own_layout() -> None:
    leaf = Page(id="leaf", title="Leaf", slug="leaf", path="group/parent/leaf")
    parent = Page(id="parent", title="Parent", slug="parent", path="group/parent", pages=(leaf,))
    computed = Page(id="computed", type="computed", computed={"type": "x"}, pages=(Page(id="made", title="Made"),))
    lonely = Page(id="lonely", title="Lonely", path="lonely", pages=(computed,))
    pathless = Page(id="pathless", title="No path", pages=(Page(id="inner", title="In & out"),))
    revision = Revision(
        id="r",
        pages=(
            Page(id="home", title="Home", path="whatever"),
            Page(id="group", type="group", title="Group", path="group", pages=(parent,)),
            lonely,
            pathless,
        ),
        files=tuple(
            File(id=identity, name=name)
            for identity, name in (("f1", "a b.png"), ("f2", "A b.png"), ("f3", "a b (1).png"))
        ),
        reusable_contents=(ReusableContent(id="i1", title="Some Thing"), ReusableContent(id="i2", title="Some thing")),
        variables={"a": 1},
    )
    placement = assign_paths(revision)
    assert dict(placement.pages) == {
        "home": "README.md",
        "parent": "group/parent/README.md",
        "leaf": "group/parent/leaf.md",
        "lonely": "lonely.md",
        "pathless": "no-path/README.md",
        "inner": "no-path/in-out.md",
    }
    assert dict(placement.files) == {
        "f1": ".gitbook/assets/a b.png",
        "f2": ".gitbook/assets/A b (2).png",
        "f3": ".gitbook/assets/a b (1).png",
    }
    assert dict(placement.includes) == {
        "i1": ".gitbook/includes/some-thing.md",
        "i2": ".gitbook/includes/some-thing-i2.md",
    }
    assert (placement.variables, placement.tags) == (".gitbook/vars.yaml", None)
    assert placement.platform_paths["f2"] == ".gitbook/assets/A b.png"
    assert [identity for identity, _, _ in placement.replaced_paths] == ["f2", "i2"]


def test_a_known_path_stays_while_the_platform_says_the_same() -> None:
    page = Page(id="p", title="P", path="old/p")
    revision = Revision(id="r", pages=(Page(id="home", title="H"), page))
    known = {"p": BasePath("moved/by-the-writer.md", "old/p.md")}
    assert assign_paths(revision, base=known).pages["p"] == "moved/by-the-writer.md"
    moved = Revision(id="r", pages=(Page(id="home", title="H"), page.amend(path="new/p")))
    assert assign_paths(moved, base=known).pages["p"] == "new/p.md"
    given = Revision(id="r", pages=(Page(id="home", title="H"), page.amend(git=_git("x.md"))))
    assert assign_paths(given, base=known).pages["p"] == "x.md"
    assert assign_paths(given, base={"p": BasePath("y.md", "x.md")}).pages["p"] == "y.md"


def test_who_was_there_first_keeps_the_path() -> None:
    pages = (Page(id="new", title="x", path="a"), Page(id="old", title="x", path="b"))
    placement = assign_paths(
        Revision(id="r", pages=(Page(id="home", title="H"), *pages)), base={"old": BasePath("a.md", "b.md")}
    )
    assert dict(placement.pages) == {"home": "README.md", "old": "a.md", "new": "a-new.md"}
    assert placement.replaced_paths == (("new", "a.md", "a-new.md"),)


def test_a_page_that_gains_children_becomes_a_readme() -> None:
    leaf = Revision(id="r", pages=(Page(id="home", title="H"), Page(id="p", title="P", path="p")))
    before = assign_paths(leaf)
    child = Page(id="c", title="C", path="p/c")
    parent = leaf.amend(pages=(leaf.pages[0], leaf.pages[1].amend(pages=(child,))))
    after = assign_paths(parent, base=_known(before))
    assert (before.pages["p"], after.pages["p"], after.pages["c"]) == ("p.md", "p/README.md", "p/c.md")


def test_reserved_files_are_never_a_page() -> None:
    names = (
        "SUMMARY.md",
        "summary.md",
        ".gitbook/vars.yaml",
        ".gitbook/tags.yaml",
        ".gitbook.yaml",
        "setup.py",
        ".gitbook/assets/x.md",
    )
    pages = tuple(Page(id=f"p{number}", title="x", git=_git(name)) for number, name in enumerate(names))
    files = tuple(
        File(id=f"f{number}", name="x", git=_git(name)) for number, name in enumerate((*names, ".gitbook/other.yaml"))
    )
    placement = assign_paths(Revision(id="r", pages=pages, files=files))
    assert all(path.endswith(".md") and not path.startswith(".gitbook") for path in placement.pages.values())
    taken = {make_collision_key(path) for path in [*placement.pages.values(), *placement.files.values()]}
    assert not taken & {"summary.md", ".gitbook/vars.yaml", ".gitbook/tags.yaml", ".gitbook.yaml"}
    assert len(taken) == len(pages) + len(files)


def test_a_mapped_name_gives_way_to_a_page_that_has_it_by_right() -> None:
    pages = (
        Page(id="home", title="H"),
        Page(id="a", title="x", path="x"),
        Page(id="b", title="x", path="x"),
        Page(id="c", title="x", path="x-b"),
        Page(id="d", title="x", path="con/x"),
        Page(id="e", title="x", path="con/y"),
    )
    placement = assign_paths(Revision(id="r", pages=pages))
    assert placement.pages["c"] == "x-b.md"
    assert placement.pages["b"] == "x-b-1.md"
    folders = {placement.pages[identity].rpartition("/")[0] for identity in ("d", "e")}
    assert len(folders) == 1
    assert "con" not in folders


@pytest.mark.parametrize(
    "long",
    ["é" * 126 + ".md", "x/" * 2040 + "y.md", "a." + "e" * 240, "日" * 84],
    ids=["name", "path", "extension", "cjk"],
)
def test_names_that_leave_no_room_for_a_mark_are_cut(long: str) -> None:
    files = tuple(File(id=f"f{number}", name="x", git=_git(long)) for number in range(3))
    pages = tuple(Page(id=f"p{number}", title="x", git=_git(f"{long.removesuffix('.md')}.md")) for number in range(3))
    placement = assign_paths(Revision(id="r", pages=pages, files=files))
    paths = [*placement.pages.values(), *placement.files.values()]
    assert [check_safe_path(path) for path in paths] == paths
    assert len(set(paths)) == 6


def test_many_files_of_one_name_take_linear_time() -> None:
    files = tuple(File(id=f"f{number}", name="image.png") for number in range(COUNT))

    def placed(count: int) -> None:
        placement = assign_paths(Revision.model_construct(id="r", files=files[:count]))
        assert placement.files[f"f{count - 1}"] == f".gitbook/assets/image ({count - 1}).png"

    assert_linear(placed, COUNT // TIMES)


def test_deep_trees_are_placed_listed_and_matched_without_recursion() -> None:
    page = Page(id="leaf", title="leaf", slug="leaf")
    for depth in range(2000):
        page = Page(id=f"p{depth}", title=f"t{depth}", slug=f"s{depth}", pages=(page,))
    placement = assign_paths(Revision(id="r", pages=(Page(id="home", title="H"), page)))
    paths = list(placement.pages.values())
    assert [check_safe_path(path) for path in paths] == paths
    assert len({make_collision_key(path) for path in paths}) == 2002
    entries = build_entries((page,), placement)
    assert sum(1 for _ in walk_entries(entries)) == 2001
    assert len(match_pages((page,), entries)) == 2001


@pytest.mark.long
@pytest.mark.parametrize("git", [False, True])
def test_a_big_revision_is_placed_listed_and_matched_in_linear_time(git: bool) -> None:
    sizes = {count: _big(count, git=git) for count in (COUNT // TIMES, COUNT)}
    placed = {count: assign_paths(revision) for count, revision in sizes.items()}
    known = {count: _known(placement) for count, placement in placed.items()}

    def placed_anew(count: int) -> None:
        assert assign_paths(sizes[count]) == placed[count]

    def placed_again(count: int) -> None:
        assert assign_paths(sizes[count], base=known[count]) == placed[count]

    def listed(count: int) -> None:
        entries = build_entries(sizes[count].pages, placed[count])
        assert match_pages(sizes[count].pages, entries) == dict(placed[count].pages)

    for work in (placed_anew, placed_again, listed):
        assert_linear(work, COUNT // TIMES)


def test_entries_say_where_links_lead() -> None:
    targets = [
        ({"kind": "url", "url": "https://x.y/z"}, "https://x.y/z"),
        ({"kind": "page", "page": "p"}, "<a b.md#>"),
        ({"kind": "anchor", "page": "p", "anchor": "top"}, "<a b.md#top>"),
        ({"kind": "file", "file": "f"}, ".gitbook/assets/x.pdf"),
        ({"kind": "page", "page": "p", "space": "s"}, "https://app.gitbook.com/s/s/p"),
        ({"kind": "space", "space": "s"}, "https://app.gitbook.com/s/s"),
        ({"kind": "page", "page": "gone"}, "/broken/pages/gone"),
        ({"kind": "file", "file": "gone"}, "/broken/files/gone"),
        ({"kind": "collection"}, "/broken/pages/"),
    ]
    links = tuple(
        Page(id=f"l{number}", type="link", title="L", target=target) for number, (target, _) in enumerate(targets)
    )
    page = Page(id="p", title="A b", link_title="T", git=_git("a b.md"))
    group = Page(id="g", type="group", title="Group", slug="own", pages=(page,))
    computed = Page(
        id="c",
        type="computed",
        computed={"dependencies": {}, "type": "builtin:openapi", "props": {"models": False}, "x": 1},
    )
    revision = Revision(
        id="r", pages=(*links, group, computed, page.amend(id="q", type="novel")), files=(File(id="f", name="x.pdf"),)
    )
    entries = build_entries(revision.pages, assign_paths(revision))
    lines = render_summary(entries).splitlines()
    assert lines[2:11] == [f"* [L]({address})" for _, address in targets]
    assert parse_summary(render_summary(entries)) == entries  # what is plain, `[A b](<a b.md>)`, is the page itself
    assert lines[12:15] == ['## Group <a href="#own" id="own"></a>', "", '* [A b](<a b.md> "T")']
    assert entries[-2] == Entry(
        "computed", "", computed="type: builtin:openapi\nprops:\n  models: false\ndependencies: {}\nx: 1"
    )
    assert entries[-1].kind == "group"


def test_match_trusts_only_what_is_unique() -> None:
    pages = (
        Page(id="home", title="Welcome", slug="welcome"),
        Page(id="git", title="Other", slug="other", git=_git("odd/path.md")),
        Page(id="slug", title="Renamed", slug="stable", pages=(Page(id="inner", title="Inner", slug="x"),)),
        Page(id="twin1", title="Twin", slug="t1"),
        Page(id="twin2", title="Twin", slug="t2"),
        Page(id="group", type="group", title="G", slug="g", pages=(Page(id="below", title="Below", slug="below"),)),
        Page(id="gone", title="Gone", slug="gone"),
        Page(id="odd", title="Its heading", slug="n8-20y"),
    )
    entries = parse_summary(
        "* [Welcome](README.md)\n* [Something](odd/path.md)\n* [Its title](n8%20y.md)\n"
        "* [Was](stable/README.md)\n  * [Inner](stable/inner.md)\n"
        "* [Twin](a.md)\n* [Twin](b.md)\n* [Anchor](c.md#gone)\n* [New](new.md)\n\n## G\n\n* [Below](g/below.md)\n"
    )
    assert match_pages(pages, entries) == {
        "home": "README.md",
        "git": "odd/path.md",
        "odd": "n8%20y.md",
        "slug": "stable/README.md",
        "inner": "stable/inner.md",
        "below": "g/below.md",
    }


def test_a_known_path_is_matched_before_what_the_platform_calls_another_page() -> None:
    pages = (Page(id="a", title="A", slug="a", git=_git("a/README.md")), Page(id="b", title="B", slug="b"))
    entries = parse_summary("* [B](a/README.md)\n* [A](a.md)\n")
    assert match_pages(pages, entries, known={"b": "a/README.md"}) == {"a": "a.md", "b": "a/README.md"}


HOSTILE = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "..",
            ".git",
            "con",
            "README",
            "readme",
            "a",
            "A",
            "é",
            "e\u0301",
            "a.md",
            ".gitbook/assets",
            "SUMMARY",
            "",
            "x" * 200,
        ]
    ),
)
OPTIONAL = st.one_of(st.none(), HOSTILE)
# What the platform answers has ids of a checked shape; a place is safe without that, too.


@st.composite
def _pages(draw: st.DrawFn, below: st.SearchStrategy[tuple[Page, ...]]) -> Page:
    path, git = draw(OPTIONAL), draw(OPTIONAL)
    return Page.model_construct(
        id=draw(HOSTILE),
        title=draw(HOSTILE),
        type=draw(st.sampled_from(["document", "document", "group", "link", "computed"])),
        slug=draw(OPTIONAL),
        path=path,
        git=None if git is None else _git(git),
        pages=draw(below),
    )


TREE = st.recursive(st.just(()), lambda below: st.lists(_pages(below), max_size=5).map(tuple), max_leaves=12)
FILE = st.builds(
    lambda identity, name, git: File.model_construct(id=identity, name=name, git=None if git is None else _git(git)),
    HOSTILE,
    HOSTILE,
    OPTIONAL,
)


@settings(deadline=None, max_examples=100)
@given(
    TREE,
    st.lists(FILE, max_size=5),
    st.dictionaries(HOSTILE, st.builds(BasePath, st.just("a.md"), HOSTILE), max_size=2),
)
def test_any_revision_has_a_safe_place_for_everything(
    pages: tuple[Page, ...], files: list[File], known: dict[str, BasePath]
) -> None:
    revision = Revision(id="r", pages=pages, files=tuple(files))
    placement = assign_paths(revision, base=known)
    paths = [*placement.pages.values(), *placement.files.values(), "SUMMARY.md"]
    assert [check_safe_path(path) for path in paths] == paths
    keys = [make_collision_key(path) for path in paths]
    assert len(set(keys)) == len(keys)
    assert not any(key.startswith(f"{other}/") for key in keys for other in keys)
    assert assign_paths(revision, base=known) == placement
    settled = assign_paths(revision, base=_known(placement))
    assert (settled.pages, settled.files, settled.replaced_paths) == (placement.pages, placement.files, ())
    assert parse_summary(render_summary(build_entries(pages, placement))) is not None


def test_everything_lies_below_the_root_that_git_names() -> None:
    settings_of = Settings(root="docs/en", readme="intro.md", summary="toc/SUMMARY.md")
    pages = (
        Page(id="home", title="H"),
        Page(id="a", title="A", path="a", pages=(Page(id="b", title="B", path="a/b"),)),
        Page(id="c", title="C", git=_git("docs/en/c.md")),
        Page(id="d", title="D", git=_git("d.md")),
        Page(id="bad", title="x", path="con/x"),
        Page(id="s", title="S", git=_git("docs/en/toc/SUMMARY.md")),
    )
    files = (File(id="f", name="a.png"), File(id="g", name="x", git=_git("docs/en/.gitbook/assets/a.png")))
    revision = Revision(
        id="r", pages=pages, files=files, reusable_contents=(ReusableContent(id="i", title="T"),), variables={"v": 1}
    )
    placement = assign_paths(revision, settings=settings_of)
    assert placement.pages["home"] == "docs/en/intro.md"
    assert [placement.pages[id] for id in "abcd"] == [
        f"docs/en/{path}" for path in ("a/README.md", "a/b.md", "c.md", "d.md")
    ]
    assert placement.files == {"f": "docs/en/.gitbook/assets/a (1).png", "g": "docs/en/.gitbook/assets/a.png"}
    assert placement.includes == {"i": "docs/en/.gitbook/includes/t.md"}
    assert (placement.summary, placement.variables) == ("docs/en/toc/SUMMARY.md", "docs/en/.gitbook/vars.yaml")
    assert all(path.startswith("docs/en/") for path in placement.pages.values())
    assert placement.pages["s"] != placement.summary
    text = render_summary(build_entries(revision.pages, placement))
    assert "* [H](../intro.md)\n* [A](../a/README.md)\n  * [B](../a/b.md)\n" in text
    assert assign_paths(revision, base=_known(placement), settings=settings_of).pages == placement.pages


def _files(*files: tuple[str, str, str]) -> Revision:
    """Files as (id, name, blob); the platform names their path."""
    return Revision(
        id="r",
        files=tuple(
            File(id=id, name=name, git=GitBlob(oid=oid, path=f".gitbook/assets/{name}")) for id, name, oid in files
        ),
    )


def test_a_file_keeps_its_name_when_only_the_number_flips() -> None:
    before = assign_paths(_files(("f", "a (1).png", "1" * 40), ("g", "a.png", "2" * 40)))
    known = {
        id: BasePath(path, before.platform_paths[id], oid * 40)
        for (id, path), oid in zip(before.files.items(), "12", strict=True)
    }
    flipped = assign_paths(_files(("f", "a (1) (1).png", "1" * 40), ("g", "a (2).png", "2" * 40)), base=known)
    assert flipped.files == before.files
    assert flipped.platform_paths["f"] == ".gitbook/assets/a (1) (1).png"
    anew = assign_paths(_files(("new", "a (1) (1).png", "1" * 40), ("g", "a.png", "2" * 40)), base=known)
    assert anew.files == {"new": before.files["f"], "g": before.files["g"]}
    other = assign_paths(_files(("new", "a (3).png", "3" * 40), ("g", "a.png", "2" * 40)), base=known)
    assert other.files["new"] == ".gitbook/assets/a (3).png"


def test_a_number_is_never_put_behind_a_number() -> None:
    files = (File(id="f1", name="a.png"), File(id="f2", name="a (1).png"), File(id="f3", name="A (1).png"))
    assert assign_paths(Revision(id="r", files=files)).files["f3"] == ".gitbook/assets/A (2).png"


def test_a_second_page_called_readme_is_told_apart() -> None:
    pages = (
        Page(id="home", title="H"),
        Page(id="r", title="Readme", path="readme"),
        Page(id="x", title="X", path="x", pages=(Page(id="y", title="Readme", path="x/readme"),)),
    )
    assert dict(assign_paths(Revision(id="r", pages=pages)).pages) == {
        "home": "README.md",
        "r": "readme-r.md",
        "x": "x/README.md",
        "y": "x/readme-y.md",
    }
