"""Page trees: walked at any depth, refused cleanly beyond what JSON may nest."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from syncd.model.page import Page, walk_pages
from tests.growing import assert_linear

trees: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.builds(dict), lambda inner: st.fixed_dictionaries({"pages": st.lists(inner, max_size=4)}), max_leaves=20
)


def numbered(tree: dict[str, Any]) -> Page:
    """A page for each node, its id the node's place in reading order."""
    number = iter(range(10**6))

    def page(node: dict[str, Any]) -> Page:
        own = str(next(number))
        return Page(id=own, pages=tuple(page(child) for child in node.get("pages", ())))

    return page(tree)


def nested(depth: int) -> bytes:
    return b'{"id":"p","pages":[' * depth + b"]}" * depth


@given(trees)
@settings(deadline=None, max_examples=100)
def test_a_walk_meets_every_page_in_reading_order_after_its_parent(tree: dict[str, Any]) -> None:
    met = list(walk_pages((numbered(tree),)))
    assert [page.id for page, _ in met] == [str(place) for place in range(len(met))]
    for page, parent in met[1:]:
        assert parent is not None
        assert page in parent.pages
    assert len(met) == json.dumps(tree).count("{")


def test_a_walk_does_not_recurse() -> None:
    page = Page(id="leaf")
    for _ in range(5000):
        page = Page.model_construct(id="p", pages=(page,))
    assert sum(1 for _ in walk_pages((page,))) == 5001


def test_the_depth_that_people_write_is_read() -> None:
    assert sum(1 for _ in walk_pages((Page.model_validate_json(nested(50)),))) == 50


def test_a_tree_nested_too_deep_is_refused_in_linear_time() -> None:
    def refused(depth: int) -> None:
        with pytest.raises(ValidationError, match="recursion"):
            Page.model_validate_json(nested(depth))

    refused(1000)
    assert_linear(refused, 12_500)
