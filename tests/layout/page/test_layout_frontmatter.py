"""The head of a page: what is not changed keeps its bytes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import FileInvalid
from syncd.layout.page.frontmatter import (
    add_title,
    complete_page,
    is_blank_page,
    patch_frontmatter,
    read_fields,
    read_heading,
    read_metadata,
    set_heading,
    split_emoji,
    split_frontmatter,
)
from syncd.model.page import Page

PAGE = """\
---
# who reads this
name:   "kept  as is"   # and this
description: >-
  A long text that was folded by hand,
  at another width.
icon: rocket

# about search
noIndex: true
layout:
  width: wide
  cover:
    visible: true
    size: full
---

# Title

Body
"""


def test_a_file_splits_into_its_block_and_its_body() -> None:
    block, body = split_frontmatter(PAGE)
    assert block.endswith("size: full\n---\n")
    assert body == "\n# Title\n\nBody\n"
    assert read_fields(PAGE, at="x.md")["name"] == "kept  as is"


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("# T\n", ""),
        ("---\na: 1\n", ""),
        ("---\na: 1\n---", "---\na: 1\n---"),
        ("\ufeff---\r\na: 1\r\n---\r\nx", "\ufeff---\r\na: 1\r\n---\r\n"),
        ("--- \na: 1\n---\t\nx", "--- \na: 1\n---\t\n"),
        ("---\n---\n", "---\n---\n"),
        ("----\na: 1\n---\n", ""),
        (" ---\na: 1\n---\n", ""),
        ("", ""),
    ],
    ids=ascii,
)
def test_only_a_closed_block_at_the_very_start_is_frontmatter(text: str, block: str) -> None:
    assert split_frontmatter(text) == (block, text.removeprefix(block))


def test_patch_changes_only_the_keys_it_is_given() -> None:
    assert patch_frontmatter(PAGE, {"icon": "house", "hidden": True, "noIndex": None, "title": None}) == PAGE.replace(
        "icon: rocket\n", "hidden: true\nicon: house\n"
    ).replace("noIndex: true\n", "")


def test_patch_keeps_the_spelling_of_a_value_that_is_the_same() -> None:
    same = {"name": "kept  as is", "description": "A long text that was folded by hand, at another width."}
    assert patch_frontmatter(PAGE, same) == PAGE
    assert patch_frontmatter(PAGE, {"absent": None}) == PAGE
    assert patch_frontmatter("---\na: 1\n---\n", {"a": True}) == "---\na: true\n---\n"
    assert patch_frontmatter("---\na: 1\n---\n", {"a": 1.0}) == "---\na: 1.0\n---\n"


def test_patch_makes_a_block_and_drops_it_again() -> None:
    for body in ("# T\n\nx\n", "\n# T\n", "", "\ufeff# T\n", "# T\r\n\r\nx\r\n"):
        made = patch_frontmatter(body, {"icon": "x"})
        assert read_fields(made, at="x.md") == {"icon": "x"}
        assert split_frontmatter(made)[1].strip() == body.removeprefix("\ufeff").strip()
        assert patch_frontmatter(made, {"icon": None}).lstrip("\n") == body.lstrip("\n")
    assert patch_frontmatter("# T\n", {"icon": "x"}) == "---\nicon: x\n---\n\n# T\n"
    assert patch_frontmatter("# T\r\n", {"icon": "x"}) == "---\r\nicon: x\r\n---\r\n\r\n# T\r\n"


def test_patch_reads_blocks_in_any_style() -> None:
    assert patch_frontmatter("---\n{a: 1, b: [2]}\n---\nx", {"a": 3}) == "---\na: 3\nb:\n  - 2\n---\nx"
    assert patch_frontmatter("---\na: |\n  # no comment\n\n  x\nb: 1\n---\n", {"a": None}) == "---\nb: 1\n---\n"
    assert patch_frontmatter("---\n# only\n---\nx", {"icon": "z"}) == "---\n# only\nicon: z\n---\nx"
    assert (
        patch_frontmatter("---\r\na: 1\r\nicon: x\r\n---\r\nx", {"icon": "z"}) == "---\r\na: 1\r\nicon: z\r\n---\r\nx"
    )
    assert patch_frontmatter("---\na: \u2028x\nb: 2\n---\n", {"b": 3}) == "---\na: \u2028x\nb: 3\n---\n"


KEY = st.sampled_from(["name", "description", "hidden", "icon", "vars", "a b", "tags", "no"])
VALUE: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(0, 99),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=90),
    st.just({"x": ["y", {"z": 1}]}),
)


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(KEY, VALUE),
    st.dictionaries(KEY, st.one_of(st.none(), VALUE)),
    st.sampled_from(["", "# T\n", "\n\n# T\n\n---\nx"]),
)
def test_patch_sets_what_it_is_told_and_nothing_else(
    before: dict[str, Any], changes: dict[str, Any], body: str
) -> None:
    text = patch_frontmatter(body, before)
    changed = patch_frontmatter(text, changes)
    expected = {key: value for key, value in {**before, **changes}.items() if value is not None}
    assert read_fields(changed, at="x.md") == expected
    assert split_frontmatter(changed)[1].lstrip("\n") == body.lstrip("\n")
    assert patch_frontmatter(changed, changes) == changed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# Title\n", "Title"),
        ("\n\n  # Title #\nx", "Title"),
        ("---\na: 1\n---\n\n# A \\[b\\] \\* c\\d\n", "A [b] * c\\d"),
        ("Title\n=====\n", "Title"),
        ('# Title <a href="#x" id="x"></a>\r\n', "Title"),
        ("\ufeff# Title", "Title"),
        ("#\n", ""),
        ("#\tTab\n", "Tab"),
        ("# C\\#\n", "C#"),
        ("# C #\\#\n", "C ##"),
        ("#Title\n", None),
        ("## Title\n", None),
        ("    # Title\n", None),
        ("text\n\n# Title\n", None),
        ("{% hint %}\n# Title\n", None),
        ("- a\n===\n", None),
        ("", None),
    ],
    ids=ascii,
)
def test_the_leading_heading_is_the_title(text: str, found: str | None) -> None:
    assert read_heading(text) == found


def test_set_heading_replaces_or_inserts() -> None:
    assert set_heading("---\na: 1\n---\n\n# Old  #\n\nx", "New") == "---\na: 1\n---\n\n# New\n\nx"
    assert set_heading("Old\n===\nx", "New") == "# New\nx"
    assert set_heading("---\na: 1\n---\nx\n", "New") == "---\na: 1\n---\n\n# New\n\nx\n"
    assert set_heading("x\r\n", "New") == "# New\r\n\r\nx\r\n"
    assert set_heading("", "New") == "# New\n"
    same = "# Same *as* it was #\n"
    assert set_heading(same, "Same *as* it was") == same


@settings(deadline=None, max_examples=100)
@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.sampled_from(["", "x\n", "# T\n\nx", "T\n===\n", "---\na: 1\n---\n# T"]),
)
def test_a_title_that_was_set_is_read_back(title: str, text: str) -> None:
    changed = set_heading(text, title)
    found = read_heading(changed)
    assert found is not None
    assert set_heading(changed, title) == changed
    assert set_heading(changed, found) == changed
    if title.isprintable():
        assert found == title.strip(" ")


FIELDS = """\
---
name: ignored
description: Text
hidden: true
noIndex: 'yes'
noRobotsIndex: false
icon: 42
if: visitor.claims.x
vars:
  a: 1
cover: .gitbook/assets/x.png
coverY: -12.5
coverHeight: 300
layout:
  width: wide
  cover:
    visible: false
    size: hero
    mask: none
  title:
    visible: true
  tags:
    visible: false
metaLinks:
  canonical: refund.md
  alternates:
    - https://app.gitbook.com/s/abc/x
---
# T
"""


def test_frontmatter_says_what_the_api_says() -> None:
    assert read_metadata(FIELDS, at="x.md") == {
        "description": "Text",
        "hidden": True,
        "noIndex": True,
        "noRobotsIndex": False,
        "icon": "42",
        "condition": "visitor.claims.x",
        "variables": {"a": 1},
        "cover": {"ref": {"kind": "url", "url": ".gitbook/assets/x.png"}, "yPos": -12.5, "height": 300},
        "layout": {
            "width": "wide",
            "cover": False,
            "coverSize": "hero",
            "coverMask": "none",
            "title": True,
            "tags": False,
        },
        "metaLinks": {
            "canonical": {"kind": "url", "url": "refund.md"},
            "alternates": [{"kind": "url", "url": "https://app.gitbook.com/s/abc/x"}],
        },
    }
    assert read_metadata("# T\n", at="x.md") == {}
    assert read_metadata("---\n---\n# T\n", at="x.md") == {}


@pytest.mark.parametrize(
    ("block", "line", "column"),
    [
        ("a: 1\nhidden: maybe\n", 3, 1),
        ("layout:\n  cover:\n    visible: 3\n", 4, 5),
        ("layout: wide\n", 2, 1),
        ("description: [a]\n", 2, 1),
        ("cover: x.png\ncoverY: top\n", 3, 1),
        ("metaLinks:\n  alternates: x\n", 3, 3),
        ("a: 1\na: 2\n", 3, 1),
        ("a: b: c\n", 2, 5),
        ("just text\n", 2, 1),
    ],
)
def test_what_cannot_be_meant_is_an_error_in_the_page(block: str, line: int, column: int) -> None:
    with pytest.raises(FileInvalid) as refusal:
        read_metadata(f"---\n{block}---\n# T\n", at="docs/x.md")
    assert (refusal.value.path, refusal.value.line, refusal.value.column) == ("docs/x.md", line, column)


def test_complete_adds_what_the_answer_left_out() -> None:
    page = Page.model_validate({"id": "p", "title": "A [title]", "emoji": "1f680", **read_metadata(FIELDS, at="x.md")})
    text = complete_page("Body\n", page)
    assert read_metadata(text, at="x.md") == read_metadata(FIELDS.replace("noRobotsIndex: false\n", ""), at="x.md")
    assert text == (
        "---\n"
        "description: Text\n"
        "hidden: true\n"
        "noIndex: true\n"
        "icon: '42'\n"
        "if: visitor.claims.x\n"
        "vars:\n"
        "  a: 1\n"
        "cover: .gitbook/assets/x.png\n"
        "coverY: -12.5\n"
        "coverHeight: 300\n"
        "layout:\n"
        "  width: wide\n"
        "  cover:\n"
        "    visible: false\n"
        "    size: hero\n"
        "    mask: none\n"
        "  title:\n"
        "    visible: true\n"
        "  tags:\n"
        "    visible: false\n"
        "metaLinks:\n"
        "  canonical: refund.md\n"
        "  alternates:\n"
        "    - https://app.gitbook.com/s/abc/x\n"
        "---\n"
        "\n"
        "# 🚀 A \\[title\\]\n"
        "\n"
        "Body\n"
    )
    assert complete_page(text, page) == text


def test_complete_leaves_a_complete_text_alone() -> None:
    page = Page(
        id="p", title="T", description="d", hidden=False, layout={"width": "default", "cover": True, "title": True}
    )
    said = "---\na: 1\ndescription: other\n---\n\n# Other\n"
    assert complete_page(said, page) == said
    assert complete_page("---\na: 1\n---\n\n# Other\n", page) == "---\na: 1\ndescription: d\n---\n\n# Other\n"
    assert complete_page("---\na: [\n---\n\n# Other\n", page) == "---\na: [\n---\n\n# Other\n"
    assert complete_page("{% hint %}\nx\n{% endhint %}\n\n# T\n", page).endswith(
        "---\n\n{% hint %}\nx\n{% endhint %}\n\n# T\n"
    )
    assert complete_page("```\n# no title\n```\n", page) == "---\ndescription: d\n---\n\n# T\n\n```\n# no title\n```\n"
    assert complete_page("# T\n", Page(id="p", title="T")) == "# T\n"
    assert complete_page("", Page(id="p")) == ""


def test_references_become_addresses_by_the_function_given() -> None:
    page = Page(
        id="p",
        cover={"ref": {"kind": "file", "file": "f1"}, "yPos": 0},
        meta_links={"canonical": {"kind": "page", "page": "p2"}},
    )
    assert complete_page("# T\n", page) == "# T\n"
    known = {"f1": "../.gitbook/assets/x.png", "p2": "y.md"}
    text = complete_page(
        "# T\n", page, find_address=lambda reference: known[str(reference.get("file") or reference.get("page"))]
    )
    assert text == "---\ncover: ../.gitbook/assets/x.png\ncoverY: 0\nmetaLinks:\n  canonical: y.md\n---\n\n# T\n"


@pytest.mark.parametrize(
    ("heading_text", "emoji", "title"),
    [
        ("✅ Checklist", "✅", "Checklist"),
        ("👩‍💻 For developers", "👩‍💻", "For developers"),
        ("❤️ Us", "❤️", "Us"),
        ("🇩🇪 German", "🇩🇪", "German"),
        ("1️⃣ First", "1️⃣", "First"),
        ("→ Next", "", "→ Next"),
        ("✅", "", "✅"),
        ("✅Tight", "", "✅Tight"),
        ("1 First", "", "1 First"),
    ],
)
def test_an_emoji_before_the_title_is_told_from_it(heading_text: str, emoji: str, title: str) -> None:
    assert split_emoji(heading_text) == (emoji, title)


def test_an_emoji_that_only_the_platform_tells_goes_before_the_heading() -> None:
    page = Page(id="p", title="T", emoji="2705")
    assert complete_page("# T\n", page) == "# ✅ T\n"
    assert complete_page("# ✅ T\n", page) == "# ✅ T\n"
    assert complete_page("# Other\n", page) == "# Other\n"


def test_reusable_content_names_its_title() -> None:
    assert add_title("A note.\n", "Note") == "---\ntitle: Note\n---\n\nA note.\n"
    assert add_title("---\ntitle: Mine\n---\n\nA note.\n", "Note") == "---\ntitle: Mine\n---\n\nA note.\n"
    assert add_title("---\n[\n---\n", "Note") == "---\n[\n---\n"


def test_tags_go_both_ways() -> None:
    tags = [{"tag": {"kind": "tag", "tag": "a"}}, {"tag": {"kind": "tag", "tag": "b"}, "primary": True}]
    text = complete_page("# T\n", Page(id="p", title="T", tags=tuple(tags)))
    assert read_fields(text, at="x")["tags"] == ["a", {"tag": "b", "primary": True}]
    assert read_metadata(text, at="x")["tags"] == tags
    odd = "---\ntags: [a, null, [], {}, {tag: []}, {tag: b, primary: true}]\n---\n"
    assert read_metadata(odd, at="x")["tags"] == tags
    with pytest.raises(FileInvalid, match="`tags` is not a list"):
        read_metadata("---\ntags: a\n---\n", at="x")


@pytest.mark.parametrize(
    ("text", "blank"),
    [
        ("", True),
        ("\n", True),
        ("# Page\n", True),
        ("---\nicon: x\n---\n\n# Page\n", True),
        ("# Page\n\nWords.\n", False),
        ("Words.\n", False),
        ("# Page\n\n# Page\n", False),
    ],
)
def test_a_page_with_nothing_but_a_title_is_blank(text: str, blank: bool) -> None:
    assert is_blank_page(text) is blank
