"""Footnotes are annotations to the word before their sign, for readers of documents who know no footnotes."""

import pytest

from syncd.layout.page.annotations import CHARACTERS_MAX, annotate_footnotes
from syncd.layout.richtext.nodes import Node
from syncd.layout.richtext.reading import to_document
from tests.growing import assert_linear

NOTES = "\n\n[^1]: One.\n[^2]: See[^1] [there](a.md).\n[^3]: Itself[^3]."


def write(node: Node) -> str:
    """A node as `type(words|fragments)`; text as it is."""
    if "leaves" in node:
        return "".join(leaf["text"] for leaf in node["leaves"])
    inner, held = "".join(map(write, node.get("nodes", ()))), "".join(map(write, node.get("fragments", ())))
    return f"{node.get('type') or node['fragment']}({inner}{'|' * bool(held)}{held})"


def annotate(markdown: str) -> list[str]:
    return [write(node) for node in annotate_footnotes(list(to_document(markdown).nodes))]


ONE = "annotation-body(paragraph(One.))"


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("Some word[^1], and more", f"Some annotation(word|{ONE}), and more"),
        ("A **bold word**[^1]", f"A bold annotation(word|{ONE})"),
        ("See [two words](#user-content-fn-1)[^1].", f"See annotation(two words|{ONE})."),
        ("See [a page](a.md)[^1].", f"See annotation(link(a page)|{ONE})."),
        ("[^1] begins", f"annotation(1|{ONE}) begins"),
        ("A word [^1]", f"A word annotation(1|{ONE})"),
        ("Twice[^1][^1]", f"annotation(Twice|{ONE})annotation(1|{ONE})"),
        ("`code[^1]` and none[^9]", "code[^1] and none[^9]"),
        ("x[^2]", f"annotation(x|annotation-body(paragraph(annotation(See|{ONE}) link(there).)))"),
        ("x[^3]", "annotation(x|annotation-body(paragraph(Itself[^3].)))"),
    ],
)
def test_a_sign_is_an_annotation_to_what_stands_before_it(markdown: str, shown: str) -> None:
    assert annotate(markdown + NOTES)[0] == f"paragraph({shown})"


def test_words_of_lists_and_cells_are_annotated_and_headings_are_not() -> None:
    found = annotate(f"## A[^1]\n\n- b[^1]\n\n| c |\n| --- |\n| d[^1] |{NOTES}")
    assert found[0] == "heading-2(A[^1])"
    assert [f"annotation({word}|" in "".join(found) for word in "bd"] == [True, True]


def test_what_nothing_speaks_of_stays_at_the_end() -> None:
    assert annotate("x\n\n[^1]: Lost.\n\ny") == ["paragraph(x)", "paragraph(y)", "paragraph(Lost.)"]


def test_blocks_have_keys_of_their_own() -> None:
    keys: list[str] = []
    pending: list[Node] = annotate_footnotes(list(to_document(f"a[^1] b[^1] c[^2]{NOTES}\n[^4]: Lost.").nodes))
    while pending:
        node = pending.pop()
        keys += [node["key"]] if node.get("object") == "block" else []
        pending += [*node.get("nodes", ()), *node.get("fragments", ())]
    assert len({*keys}) == len(keys) == 7


def test_very_many_signs_of_a_long_footnote_are_bounded() -> None:
    text = "x[^1] " * 20_000 + f"\n\n[^1]: {'word ' * 2_000}"
    assert sum(map(len, annotate(text))) < 2 * CHARACTERS_MAX
    assert_linear(lambda size: annotate("x[^1] " * size + "\n\n[^1]: y"), 2_000)
