"""What is written as TOML is read as the same tables."""

import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from syncd.config.writing import render_toml

_KEYS = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
_PLAIN = st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.booleans(), st.integers(-(2**62), 2**62))
_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(_PLAIN, st.lists(_PLAIN, max_size=3)),
    lambda inner: st.one_of(
        st.dictionaries(_KEYS, inner, max_size=3),
        st.lists(st.dictionaries(_KEYS, inner, max_size=3), min_size=1, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, _VALUES, max_size=4))
def test_tables_come_back_as_they_were(tables: dict[str, Any]) -> None:
    assert tomllib.loads(render_toml(tables)) == tables


def test_plain_keys_come_before_tables_and_lists_of_tables() -> None:
    tables = {"repository": [{"space": [{"id": "s"}], "path": "."}], "platform": {"url": "u"}}
    assert render_toml(tables).splitlines() == [
        *("[[repository]]", 'path = "."', ""),
        *("[[repository.space]]", 'id = "s"', ""),
        *("[platform]", 'url = "u"'),
    ]
