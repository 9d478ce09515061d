"""Documents: plain text in, plain text out, unknown nodes untouched."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from syncd.model.document import BLOCKS, DEEPEST, INLINES, MARKS, Document
from tests.plain_documents import make_document

lines = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=20)


@given(st.lists(lines, max_size=5))
@settings(deadline=None, max_examples=100)
def test_text_goes_in_and_comes_out(blocks: list[str]) -> None:
    text = "\n\n".join(blocks)
    assert make_document(text).text() == text


def test_a_document_of_text_is_sent_whole() -> None:
    wire = make_document("words").wire()
    assert wire["object"] == "document"
    assert wire["data"] == {}
    assert wire["nodes"][0]["nodes"][0]["leaves"][0]["text"] == "words"


def test_unknown_nodes_and_marks_pass_through_untouched() -> None:
    leaf = {"object": "leaf", "text": "b", "marks": [{"type": "tomorrow"}], "selections": []}
    node: dict[str, Any] = {
        "object": "block",
        "type": "tomorrow",
        "data": {"deep": [1, {"x": None}]},
        "nodes": [
            {"object": "text", "leaves": [{"text": "a"}, leaf]},
            {"object": "inline", "nodes": [{"leaves": [{"text": "c"}]}]},
        ],
        "fragments": [],
    }
    received = {"object": "document", "data": {"schemaVersion": 8}, "nodes": [node, node], "meta": {"token": "t"}}
    document = Document.model_validate(received)
    assert document.wire() == received
    assert document.text() == "abc\n\nabc"


@pytest.mark.parametrize(
    "node", [{}, {"nodes": []}, {"nodes": ["x", None, 3]}, {"leaves": ["x", None]}, {"leaves": [{}]}, {"nodes": [[]]}]
)
def test_nodes_of_an_unknown_shape_have_no_text(node: dict[str, Any]) -> None:
    assert Document(nodes=(node,)).text() == ""


def test_text_is_read_at_any_depth() -> None:
    node: dict[str, Any] = {"leaves": [{"text": "deep"}]}
    for _ in range(5000):
        node = {"nodes": [node]}
    assert Document.model_construct(nodes=(node,)).text() == "deep"


def test_text_of_fragments_is_read() -> None:
    words = {"object": "text", "leaves": [{"object": "leaf", "text": "caption", "marks": []}]}
    fragment = {"object": "fragment", "fragment": "caption", "nodes": [{"object": "block", "nodes": [words]}]}
    assert Document(nodes=({"object": "block", "isVoid": True, "fragments": [fragment]},)).text() == "caption"


def test_a_document_is_not_nested_without_end() -> None:
    node: dict[str, Any] = {"object": "block"}
    for _ in range(DEEPEST // 2 - 1):
        node = {"object": "block", "nodes": [node]}
    wire = {"object": "document", "data": {}, "nodes": [node]}
    assert Document.model_validate(wire).model_dump_json(exclude_unset=True)
    wire["nodes"] = [{"nodes": [{"nodes": [node]}]}]
    with pytest.raises(ValidationError, match="nested deeper"):
        Document.model_validate(wire)


def test_a_token_of_the_platform_is_kept() -> None:
    wire = {"object": "document", "data": {"schemaVersion": 8}, "nodes": [], "meta": {"token": "t"}}
    document = Document.model_validate(wire)
    assert document.meta == {"token": "t"}
    assert document.wire() == wire
    assert "meta" not in make_document("a").wire()


def test_known_types_are_those_of_the_platform() -> None:
    assert (len(BLOCKS), len(INLINES), len(MARKS)) == (35 + 3, 9, 8)


def test_something_else_is_not_a_document() -> None:
    with pytest.raises(ValidationError):
        Document.model_validate({"object": "page"})
