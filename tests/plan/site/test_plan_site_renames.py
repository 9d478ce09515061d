"""Renames and moves among siblings: never two of a path, never a move for nothing, never more than it takes."""

from collections.abc import Sequence
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.plan.site.structure.moves import Move, plan_moves
from syncd.plan.site.structure.renames import PATH_MAX, Renames, plan_renames

NAMES = ("s1", "s2", "s3", "s4", "s5", "s6")
PATHS = ("a", "b", "c", "d", "A", "e")


@st.composite
def siblings(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    paths = draw(st.permutations(("a", "b", "c", "d", "e")))
    now = dict(zip(NAMES, paths, strict=False))
    wanted = draw(st.dictionaries(st.sampled_from((*NAMES, "new1", "new2")), st.sampled_from(PATHS)))
    doomed = draw(st.frozensets(st.sampled_from(NAMES))) - wanted.keys()
    return now, wanted, doomed


def ran(now: dict[str, str], plan: Renames) -> dict[str, str]:
    """The paths after the renames, none of which may meet another on the way."""
    paths = dict(now)
    for one in plan.order:
        taken = {path.casefold() for name, path in paths.items() if name != one.name}
        assert one.path.casefold() not in taken, f"{one.name} meets another at {one.path}"
        paths[one.name] = one.path
    return paths


@given(siblings())
@settings(deadline=None, max_examples=50)
def test_renames_never_meet_and_end_where_they_are_wanted(
    case: tuple[dict[str, str], dict[str, str], frozenset[str]],
) -> None:
    now, wanted, doomed = case
    plan = plan_renames(now, wanted, doomed)
    paths = ran(now, plan)
    for name, path in wanted.items():
        assert paths.get(name) == (now.get(name) if name in plan.blocked else path)
    for name, path in now.items():
        assert name in wanted or name in doomed or paths[name] == path


def test_a_swap_takes_one_temporary_path_always_the_same() -> None:
    plan = plan_renames({"s1": "a", "s2": "b"}, {"s1": "b", "s2": "a"})
    assert [(one.name, one.is_temporary) for one in plan.order] == [("s1", True), ("s2", False), ("s1", False)]
    assert plan == plan_renames({"s1": "a", "s2": "b"}, {"s1": "b", "s2": "a"})
    assert plan.order[0].path.startswith("b-syncd-")


def test_a_chain_takes_none_and_a_new_case_of_letters_is_a_rename() -> None:
    plan = plan_renames({"s1": "a", "s2": "b"}, {"s1": "b", "s2": "c"})
    assert [one.name for one in plan.order] == ["s2", "s1"]
    assert [one.path for one in plan_renames({"s1": "a"}, {"s1": "A"}).order] == ["A"]


def test_what_is_about_to_be_deleted_steps_aside_and_what_is_nobodys_stays() -> None:
    plan = plan_renames({"s1": "a", "s2": "b"}, {"s1": "B"}, frozenset({"s2"}))
    assert [(one.name, one.is_temporary) for one in plan.order] == [("s2", True), ("s1", False)]
    assert plan_renames({"s1": "a", "s2": "b"}, {"s1": "B"}).blocked == {"s1": "s2"}


def test_who_stays_because_of_another_blocks_those_that_wait_for_it() -> None:
    plan = plan_renames({"s1": "a", "s2": "b", "s3": "c"}, {"s1": "b", "s2": "c"})
    assert plan.blocked == {"s2": "s3", "s1": "s2"}
    assert not plan.order


def test_a_temporary_path_is_no_longer_than_a_path_may_be() -> None:
    long = "x" * PATH_MAX
    plan = plan_renames({"s1": "a", "s2": long}, {"s1": long, "s2": "a"})
    assert all(len(one.path) <= PATH_MAX for one in plan.order)


@given(st.permutations(range(8)), st.frozensets(st.integers(0, 7)))
@settings(deadline=None, max_examples=50)
def test_moves_put_siblings_in_order_and_each_changes_something(order: list[int], unnamed: frozenset[int]) -> None:
    there = [str(number) for number in order]
    wanted = [str(number) for number in range(8) if number not in unnamed]
    made = plan_moves(there, wanted)
    for count in range(len(made)):
        assert apply_moves(there, made[:count]) != apply_moves(there, made[: count + 1])
    assert [name for name in apply_moves(there, made) if name in wanted] == wanted


def apply_moves(there: list[str], made: Sequence[Move[str]]) -> list[str]:
    order = list(there)
    for move in made:
        order.remove(move.name)
        order.insert(order.index(move.anchor) + (move.side == "after"), move.name)
    return order


def test_no_order_takes_fewer_moves() -> None:
    wanted = list("abcd")
    for there in permutations(wanted):
        assert len(plan_moves(there, wanted)) == _fewest(list(there), wanted)


def _fewest(there: list[str], wanted: list[str]) -> int:
    """Breadth first over all single moves."""
    reached, steps = {tuple(there)}, 0
    while tuple(wanted) not in reached:
        steps += 1
        reached |= {
            (*rest[:at], name, *rest[at:])
            for order in reached
            for name in order
            for rest in [[one for one in order if one != name]]
            for at in range(len(rest) + 1)
        }
    return steps
