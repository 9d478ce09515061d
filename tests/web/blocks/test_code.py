"""Code has classes for its words, loses nothing of itself, and is coloured once."""

import pytest

from syncd.web.blocks import BlockContext, CodeMemory
from syncd.web.blocks.code import CHARACTERS_MAX, highlight_code
from tests.web.blocks.documents import render_markdown


@pytest.mark.parametrize(
    "language", ["python", "console", "pycon", "diff", "html", "js", "no-such-language", "", "text"]
)
@pytest.mark.parametrize(
    "text",
    ["x = '<b>' # \u2028 &", "    deep\n\n\tt\n", "=== RUN x\n    --- FAIL: y\n  got 'I'", "\r\nx\r\n", "", "\n\n"],
)
def test_no_sign_of_code_is_lost(language: str, text: str) -> None:
    assert highlight_code(text, language, {}).striptags().split() == text.split()
    assert highlight_code(text, language, {}).unescape().count("\n") == text.count("\n") or "\r" in text


def test_words_have_classes_and_lines_their_numbers() -> None:
    html = render_markdown(
        '{% code title="a.py" lineNumbers="true" overflow="wrap" %}\n```python\nx = 1\n"""a\nb"""\n```\n{% endcode %}'
    )
    assert '<figure class="b-code b-wrap b-numbered">' in html
    assert '<figcaption class="b-code-title" dir="auto">a.py</figcaption>' in html
    assert html.count('<span class="b-line">') == 3
    assert '<span class="k-number">1</span>' in html
    assert "style=" not in html


def test_code_is_coloured_once() -> None:
    memory = CodeMemory()
    context = BlockContext(highlighted=memory)
    first = render_markdown("```python\nx = 1\n```", context)
    (key,) = memory
    memory[key] = "remembered"
    assert "remembered" in render_markdown("```python\nx = 1\n```", context)
    assert "remembered" not in first


def test_what_is_remembered_has_a_bound() -> None:
    memory = CodeMemory(100)
    for number in range(50):
        memory[str(number)] = "x" * 30
    assert list(memory) == ["47", "48", "49"]
    memory["49"] = "y" * 500
    assert list(memory) == ["49"]


def test_very_long_code_is_shown_plainly() -> None:
    assert "<span" not in highlight_code("x = 1\n" * CHARACTERS_MAX, "python", {})
