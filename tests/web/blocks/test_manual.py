"""Every page of the manual, and every example of the long documents, reads in a browser with all of its words."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

import syncd
from syncd.layout.page.frontmatter import split_after_title
from syncd.layout.richtext.reading import to_document
from syncd.web.blocks import BlockContext, CodeMemory, render_document
from tests.web.blocks.test_hostile import check

MANUAL = Path(syncd.__file__).parent / "manual"
MEMORY = CodeMemory()


def list_words(node: object) -> Iterator[str]:
    """Give the words of all leaves."""
    if isinstance(node, list | tuple):
        for one in node:
            yield from list_words(one)
    elif isinstance(node, dict):
        yield from str(node.get("text", "")).split()
        for name in ("nodes", "fragments", "leaves"):
            yield from list_words(node.get(name, ()))


@pytest.mark.parametrize("path", sorted(path.relative_to(MANUAL).as_posix() for path in MANUAL.rglob("*.md")))
def test_no_word_of_a_page_is_lost(path: str) -> None:
    document = to_document(split_after_title((MANUAL / path).read_text(encoding="utf-8"))[1])
    found = render_document(document, BlockContext(highlighted=MEMORY))
    check(found.html)
    visible = "".join(unescape(re.sub(r"<[^>]*>", "", found.html)).split())
    assert not [word for word in list_words(document.nodes) if word not in visible]
    assert found.unknown == ()
