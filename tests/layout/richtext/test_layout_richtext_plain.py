"""A page that is too large to be told apart into nodes is shown as it is written, and costs as much as its size."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from syncd.layout.compare.lost_words import find_lost_words
from syncd.layout.compare.reformat import preserve_formatting
from syncd.layout.page.frontmatter import read_heading
from syncd.layout.richtext.outline import split_sections
from syncd.layout.richtext.plain_page import CHARACTERS_MAX, COLUMNS_MAX, NODES_MAX
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.model.document import Document


def table(columns: int, rows: int) -> str:
    """A table with these many columns and rows, of which the later ones are short."""
    return f"{'| a ' * columns}|\n{'|---' * columns}|\n" + "|\n" * rows


HUGE = {
    "columns": table(200_000, 1),
    "cells": table(COLUMNS_MAX, NODES_MAX // COLUMNS_MAX),
    "quoted columns": "".join(f"> {line}\n" for line in table(COLUMNS_MAX + 1, 1).splitlines()),
    "items": "- a\n" * NODES_MAX,
    "lines": "a\n" * (NODES_MAX + 1),
    "lines of code": "```\n" + "a\n" * NODES_MAX + "```\n",
    "paragraphs": "a\n\n" * (NODES_MAX // 2),
    "words in one line": "*a* " * NODES_MAX,
    "links in one line": "[a](b) " * NODES_MAX,
    "characters": "a" * (CHARACTERS_MAX + 1),
    "without a line end": table(200_000, 1).rstrip("\n"),
}


@pytest.mark.parametrize("markdown", HUGE.values(), ids=HUGE)
def test_a_page_beyond_the_bounds_is_shown_as_it_is_written(markdown: str) -> None:
    document = to_document(markdown)
    (block,) = document.nodes
    assert (block["type"], block["data"]["syntax"], block["isVoid"]) == ("code", "markdown", False)
    assert document.text() == markdown
    assert to_markdown(Document.model_validate(document.wire())) == markdown


def test_a_page_beyond_the_bounds_is_compared_as_text() -> None:
    page = f"One\n\n{table(COLUMNS_MAX + 1, 1)}".encode()
    assert preserve_formatting(page, page.replace(b"One", b"*One*"), at="a.md") != page
    assert preserve_formatting(page, page + b"x\n", at="a.md") == page + b"x\n"
    assert find_lost_words(page, b"", at="a.md") == ()
    assert read_heading(f"{'a *b* ' * NODES_MAX}\n===\n") is None


def test_words_of_a_page_beyond_the_bounds_are_found() -> None:
    (part,) = split_sections(f"# Title\n\nAnd words.\n\n{HUGE['columns']}")
    assert (part.id, part.title) == ("", "")
    assert part.body.startswith("# Title And words. | a | a")


def test_a_page_within_the_bounds_is_told_apart() -> None:
    for markdown in (table(COLUMNS_MAX, 20), "- a\n" * (NODES_MAX // 50), "word " * (CHARACTERS_MAX // 5)):
        assert to_document(markdown).nodes[0]["type"] != "code"


@pytest.mark.parametrize("change", [{"nodes": []}, {"data": {"syntax": "markdown"}}, {"isVoid": True}, {"more": 1}])
def test_only_the_block_of_such_a_page_is_taken_for_one(change: dict[str, Any]) -> None:
    block = to_document(HUGE["columns"]).nodes[0]
    changed = Document(object="document", nodes=({**block, **change},))
    assert to_markdown(changed) != HUGE["columns"]
    twice = Document(object="document", nodes=(block, block))
    assert to_markdown(twice) != HUGE["columns"]


def calls(work: Callable[[], Any]) -> int:
    """How many functions a piece of work calls, which no other process changes."""
    count = 0

    def called(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


RISING = [
    "</details>\n{% endtab %}\na\n[a]: /u\n",
    '{% endfoo %}\n<details>\n<!--syncd:data {"a":1}-->\n',
    "<div>\n{% x %}\n",
    "<div>\n{% x\n",
    "<b>\n  {% y %}\n",
    "- <div>\n  {% x %}\n",
    "> <div>\n> {% x %}\n",
]


@pytest.mark.parametrize("unit", RISING)
def test_twice_the_page_takes_twice_the_work(unit: str) -> None:
    once, twice = (calls(partial(to_document, unit * (size // len(unit)))) for size in (6_000, 12_000))
    assert twice < 2.4 * once
