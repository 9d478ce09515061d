"""Words that are gone are told from words that only look different."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.compare.lost_words import count_different_words, find_lost_words, is_lossy
from tests.growing import assert_linear

PAGE = """---
description: What a <person> does
tags: [one, two]
---

# Title

Opened by <person> for *all* of you,
and "quoted" `a < b`.

```sh
ls --all
```

[Setup](guide/setup.md) ✅
"""


def lost(sent: str, kept: str) -> list[str]:
    return [f"{loss.line}: {loss}" for loss in find_lost_words(sent.encode(), kept.encode(), at="README.md")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("*all*", "_all_"),
        ("*all*", "**all**"),
        ("you,\nand", "you, and"),
        ('"quoted"', "“quoted”"),
        ("`a < b`", "`a &#x3C; b`"),
        ("# Title", "### Title"),
        ("guide/setup.md", "./guide/setup.md"),
        ("tags: [one, two]", "tags:\n  - two\n  - one"),
        ("```sh\nls --all\n```", "    ls --all"),
        ("Opened by", "Opened&#x20; by"),
        ("<person> for", "\\<person> for <br>"),
    ],
)
def test_another_form_of_a_page_has_all_its_words(old: str, new: str) -> None:
    gone = lost(PAGE, PAGE.replace(old, new))
    assert gone == [] or (old.startswith("<person>") and gone == ["8: <person>"])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<person> for", "for", "8: <person>"),
        ("does", "do", "2: does"),
        ("two", "", "3: two"),
        ("--all", "", "12: --all"),
        ("[Setup](guide/setup.md)", "Setup", "15: guide/setup.md"),
        (" ✅", "", "15: ✅"),
        ("`a < b`", "", "9: < b"),
        ("of you", "", "8: of you"),
    ],
)
def test_a_word_that_is_gone_is_named_with_its_line(old: str, new: str, told: str) -> None:
    assert lost(PAGE, PAGE.replace(old, new)) == [told]


def test_a_form_with_less_is_told_from_one_with_more() -> None:
    cut = PAGE.replace("What a <person> does", "What a <per").encode()
    assert is_lossy(PAGE.encode(), cut, at="a.md")
    assert not is_lossy(PAGE.encode(), cut + b"\nMore.\n", at="a.md")
    assert count_different_words(PAGE.encode(), PAGE.replace("does", "did").encode(), at="a.md") == 2


def test_what_cannot_be_read_has_lost_nothing() -> None:
    assert find_lost_words(b"\xff one", b"two", at="a.md") == ()
    assert lost("---\na: [\n---\n\none\n", "---\na: [\n---\n\n") == ["5: one"]


@given(st.text(max_size=300))
@settings(max_examples=50, deadline=None)
def test_a_page_has_all_its_own_words_and_an_empty_one_has_none(text: str) -> None:
    data = text.encode("utf-8", "replace")
    assert find_lost_words(data, data, at="a.md") == ()
    assert not find_lost_words(b"", data, at="a.md")


@pytest.mark.parametrize("hostile", ["<", "<a ", "<!--", "[a](b) ", "`", "![[", "<a '", "{% "])
def test_hostile_text_is_read_in_bounded_time(hostile: str) -> None:
    assert_linear(lambda size: lost(hostile * (size // len(hostile)), "x"), 4_000)
