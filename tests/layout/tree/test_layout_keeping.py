"""What a page or SUMMARY.md that comes anew from the platform may not take away from Git."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.page.frontmatter import KEY_ORDER, complete_page, patch_frontmatter, read_fields, split_frontmatter
from syncd.layout.tree.preserve import has_same_entries, preserve_entries, preserve_frontmatter, preserve_links
from syncd.layout.tree.summary import parse_summary, render_summary
from syncd.model.page import Page

GIT = (
    "---\nname: 'a: b'   # ours\nmetadata:\n    deep: [1, 2]\ndescription: >-\n  Written\n  by hand.\nicon: bolt\n"
    "if: visitor.claims.x\n"
    "tags: [a, {tag: b, primary: true}]\nlayout:\n  title:\n    visible: true\nhidden: false\n---\n"
    "\n# Title\n\nOld text.\n"
)


def test_keys_that_the_platform_never_knew_outlive_a_change_of_the_body() -> None:
    answered = complete_page(
        "# Title\n\nNew text.\n", Page(id="p", title="Title", description="Written by hand.", icon="bolt")
    )
    kept = preserve_frontmatter(GIT, answered, title="Title")
    assert kept == GIT.replace("Old", "New")


def test_what_changed_on_the_platform_changes_in_git_and_nothing_else() -> None:
    page = Page(id="p", title="Title", description="Another one.", hidden=True, layout={"outline": False})
    kept = preserve_frontmatter(GIT, complete_page("# Title\n\nNew text.\n", page), title="Title")
    block = read_fields(kept, at="x")
    assert list(block)[:2] == ["name", "metadata"]
    assert "name: 'a: b'   # ours\nmetadata:\n    deep: [1, 2]\n" in kept
    assert "icon" not in block
    assert (block["description"], block["hidden"], block["if"]) == ("Another one.", True, "visitor.claims.x")
    assert block["layout"]["outline"] == {"visible": False}
    assert block["tags"] == ["a", {"tag": "b", "primary": True}]


def test_tags_that_are_the_same_keep_their_bytes() -> None:
    git = "---\ntags: [{tag: a}, b, {tag: c, primary: true}, []]\n---\n\n# T\n"
    tags = tuple({"tag": {"kind": "tag", "tag": slug}, "primary": slug == "c"} for slug in "abc")
    page = Page(id="p", title="T", tags=tags)
    assert preserve_frontmatter(git, complete_page("# T\n", page), title="T") == git
    fewer = preserve_frontmatter(git, complete_page("# T\n", page.model_copy(update={"tags": tags[:1]})), title="T")
    assert read_fields(fewer, at="x")["tags"] == ["a"]


@pytest.mark.parametrize(
    ("here", "there", "kept"),
    [
        ("no block\n", "---\nicon: x\n---\n\n# T\n", "---\nicon: x\n---\n\n# T\n"),
        ("---\na: [\n---\n\n# T\n", "# T\n\nNew.\n", "# T\n\nNew.\n"),
        ("---\nicon: x\n---\n\n# T\n", "# T\n", "# T\n"),
        ("---\r\nmine: 1\r\n---\r\n\r\n# T\r\n", "# T\n\nNew.\n", "---\r\nmine: 1\r\n---\r\n\r\n# T\n\nNew.\n"),
        ("---\ntitle: Old\n---\n\nText.\n", "Text, new.\n", "---\ntitle: Now\n---\n\nText, new.\n"),
        ("---\nif: a\n---\n# T\n", "---\nif: b\n---\n\n# T\n", "---\nif: b\n---\n# T\n"),
    ],
)
def test_the_head_of_a_page_is_the_platforms_where_it_can_know(here: str, there: str, kept: str) -> None:
    assert preserve_frontmatter(here, there, title="Now") == kept


def test_a_description_that_the_platform_cut_stays_whole() -> None:
    long = " ".join(["word"] * 60)
    here = f"---\ndescription: {long}\n---\n\n# T\n"
    assert (
        preserve_frontmatter(here, complete_page("# T\n", Page(id="p", title="T", description=long[:199])), title="T")
        == here
    )
    other = complete_page("# T\n", Page(id="p", title="T", description="word"))
    assert read_fields(preserve_frontmatter(here, other, title="T"), at="x") == {"description": "word"}


VALUE = st.one_of(
    st.booleans(), st.integers(-9, 9), st.text("ab: #'\n", max_size=8), st.lists(st.text("ab", max_size=3))
)
KEY = st.one_of(st.sampled_from(KEY_ORDER), st.text("xyz", min_size=1, max_size=3))


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(KEY, VALUE, max_size=5), st.sampled_from(["", "\n", "\r\n\n"]), st.text("ab#\n", max_size=9))
def test_unknown_keys_are_never_lost_and_keeping_twice_changes_nothing(
    here: dict[str, object], gap: str, body: str
) -> None:
    former = patch_frontmatter(f"{gap}{body}", here)
    incoming = "---\nicon: bolt\n---\n\n# New\n"
    once = preserve_frontmatter(former, incoming, title="")
    unknown = {key: value for key, value in here.items() if key not in KEY_ORDER}
    assert unknown.items() <= read_fields(once, at="x").items()
    assert split_frontmatter(once)[1].endswith("# New\n")
    assert preserve_frontmatter(once, incoming, title="") == once


def test_a_good_link_is_never_replaced_by_a_broken_one() -> None:
    here = "See [setup](guide/setup.md#a), [gone](gone.md), ![](a.png) ![](b.png) and [x](https://x.y).\n"
    there = (
        "See [setup](/broken/pages/1), [gone](/broken/pages/2), ![](/broken/files/1) ![](/broken/files/2) "
        "and [x](https://x.y). [new](/broken/spaces/s/pages/3)\n"
    )
    text, healed = preserve_links(here, there, lambda address: not address.startswith("gone"))
    assert text == (
        "See [setup](guide/setup.md#a), [gone](/broken/pages/2), ![](a.png) ![](b.png) "
        "and [x](https://x.y). [new](/broken/spaces/s/pages/3)\n"
    )
    assert healed == ("a.png", "b.png", "guide/setup.md#a")
    assert preserve_links(here, "# T\n", bool) == ("# T\n", ())
    assert preserve_links("[a](x.md) [a](y.md)\n", "[a](/broken/pages/1)\n", bool) == ("[a](/broken/pages/1)\n", ())


TABLE = (
    '# Contents\n\n* [Home](./README.md)\n* [A](a.md "Short")\n* [B](<b c.md#x>)\n* [There](https://app.gitbook.com/s/S/some/page)\n'
    "* ```yaml\n  type: builtin:openapi\n  props: {models: false}\n  ```\n"
)


def test_a_table_of_contents_in_other_words_says_the_same() -> None:
    entries = parse_summary(TABLE)
    canonical = parse_summary(
        render_summary(
            parse_summary(
                TABLE.replace("./README", "README").replace("props: {models: false}", "props:\n    models: false")
            )
        )
    )
    assert entries != canonical
    assert has_same_entries(entries, canonical, at="SUMMARY.md")
    assert not has_same_entries(entries, canonical[:-1], at="SUMMARY.md")


def test_tables_of_the_same_lines_in_another_tree_differ() -> None:
    nested = parse_summary("* [A](a.md)\n  * [B](b.md)\n    * [C](c.md)\n")
    beside = parse_summary("* [A](a.md)\n  * [B](b.md)\n  * [C](c.md)\n")
    assert not has_same_entries(nested, beside, at="SUMMARY.md")
    assert not has_same_entries(nested, (), at="SUMMARY.md")
    respelled = parse_summary("* [A](./a.md)\n  * [B](b.md)\n    * [C](x/../c.md)\n")
    assert has_same_entries(nested, respelled, at="SUMMARY.md")


def test_what_a_table_says_that_the_platform_cannot_stays() -> None:
    here = parse_summary(TABLE)
    answered = parse_summary(
        "* [Home](README.md)\n* [A, retitled](a.md)\n* [B](<b c.md#x>)\n* [There](https://app.gitbook.com/s/S/pageid)\n"
        "* [New](new.md)\n* ```yaml\n  props:\n    models: false\n  type: builtin:openapi\n  ```\n"
    )
    kept = render_summary(preserve_entries(answered, here, here))
    assert '* [A, retitled](a.md "Short")\n' in kept
    assert "* [There](https://app.gitbook.com/s/S/some/page)\n" in kept
    assert "  props: {models: false}\n" in kept
    assert "* [New](new.md)\n" in kept


@pytest.mark.parametrize(
    ("platform", "git", "seen", "kept"),
    [
        (None, "mine", None, "mine"),
        ("old", "mine", "old", "mine"),
        ("theirs", "old", "old", "theirs"),
        (None, "old", "old", None),
        ("theirs", None, None, "theirs"),
        ("old", None, "old", None),
    ],
)
def test_a_link_title_is_whose_changed_it(
    platform: str | None, git: str | None, seen: str | None, kept: str | None
) -> None:
    def table(title: str | None) -> str:
        quoted = f' "{title}"' if title else ""
        return f"* [A](a.md{quoted})\n"

    knows = '* [K](k.md "Known")\n'
    sides = [parse_summary(knows + table(title)) for title in (platform, git, seen)]
    assert preserve_entries(*sides)[1].link_title == kept
