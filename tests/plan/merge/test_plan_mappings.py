"""Two sides of a mapping meet name by name."""

from hypothesis import given
from hypothesis import strategies as st

from syncd.model.page import Scalar
from syncd.plan.merge.mappings import merge_mappings

NAMES = "abcd"
mappings = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["1", 1, True, "x"]))


@given(mappings, mappings, mappings)
def test_each_name_has_what_the_side_that_changed_it_says(
    base: dict[str, Scalar], ours: dict[str, Scalar], theirs: dict[str, Scalar]
) -> None:
    merged = merge_mappings(base, ours, theirs)
    spelled = [{name: repr(side.get(name)) for name in NAMES} for side in (base, ours, theirs)]
    contested = [name for name in NAMES if len({side[name] for side in spelled}) == 3]
    assert (merged is None) is bool(contested)
    for name in NAMES if merged is not None else "":
        former, one, other = (side[name] for side in spelled)
        assert repr((merged or {}).get(name)) == (other if one == former else one)


def test_what_theirs_adds_comes_last() -> None:
    merged = merge_mappings({"b": 1}, {"c": 1, "b": 1}, {"a": 1, "b": 1})
    assert merged is not None
    assert list(merged) == ["c", "b", "a"]
