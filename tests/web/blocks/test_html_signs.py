"""Tags and comments in a writer's HTML: the same ones that a pattern finds, and in linear time."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncd.web.blocks.html_signs import HtmlSign, drop_html_signs, find_html_signs
from tests.growing import assert_linear
from tests.web.blocks.documents import render_markdown

PATTERN = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([A-Za-z][A-Za-z0-9-]*)(?:\"[^\"]*\"|'[^']*'|[^'\">])*?(/?)>", re.DOTALL)
"""What a sign is, short and slow."""


@given(st.lists(st.sampled_from(("<", "a", "B-1", "/", ">", '"', "'", " ", "<!--", "-->", "=", "x"))).map("".join))
def test_signs_are_those_of_the_pattern(html: str) -> None:
    expected = [
        HtmlSign(found.start(), found.end(), (found[2] or "").lower(), bool(found[1]), bool(found[3]))
        for found in PATTERN.finditer(html)
    ]
    assert list(find_html_signs(html)) == expected
    assert drop_html_signs(html) == PATTERN.sub(" ", html)


@pytest.mark.parametrize("piece", ["<A", '<A"<A\'"', "<a '\"", "</a ", "<!-", "<a x='", '<a ">'])
def test_html_without_an_end_is_rendered_in_linear_time(piece: str) -> None:
    assert_linear(lambda size: render_markdown("<div>" + piece * size + "\n"), 600)
