"""Whatever the file, the platform and the lock: a plan converges, exposes nothing, loses nothing, and can be cut."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncd.layout.site.read.declared import SiteFile
from syncd.plan.site.compose import plan_site
from syncd.plan.site.match.first_sections import take_first_part
from syncd.plan.site.match.match import find_matched_ids
from syncd.plan.site.steps import SitePlan, Step
from tests.plan.site.promises import carry_out, deletes_are_owned
from tests.plan.site.simulator import Simulator
from tests.sampling import sample_cases
from tests.sites.worlds import World, confused, world

SEEDS = st.integers(0, 2**32)
PASSES = 3
LOCAL = ("adopt", "forget")


def follows_through(case: World) -> None:
    plan = plan_site(case.file, case.live, case.lock)
    assert plan == plan_site(case.file, case.live, case.lock), "the same sides, another plan"
    deletes_are_owned(case.file, case.live, case.lock, plan)
    simulator = Simulator(case.live, case.lock, case.file)
    carry_out(simulator, plan)
    assert not plan_site(case.file, simulator.live(), simulator.lock).steps


def comes_to_rest(case: World) -> None:
    """Carry out plans until none has anything to do, as often as one apply looks again."""
    simulator = Simulator(case.live, case.lock, case.file)
    for _ in range(PASSES):
        plan = plan_site(case.file, simulator.live(), simulator.lock)
        deletes_are_owned(case.file, simulator.live(), simulator.lock, plan)
        carry_out(simulator, plan)
    assert not plan_site(case.file, simulator.live(), simulator.lock).steps


def recovers(case: World, dice: random.Random, *, unnoticed: bool) -> None:
    """Cut the plan after some step, of which the lock may not have heard, or the platform, and go on with new plans."""
    plan = plan_site(case.file, case.live, case.lock)
    steps = take_first_part(plan).steps
    until = dice.randint(0, len(steps))
    simulator = Simulator(case.live, case.lock, case.file)
    carry_out(simulator, plan, until=until)
    if unnoticed and until < len(steps) and steps[until].call not in LOCAL:
        unheard(simulator, steps[until], is_done=dice.random() < 0.8)
    for _ in range(3):
        again = plan_site(case.file, simulator.live(), simulator.lock)
        if not again.steps:
            break
        deletes_are_owned(case.file, simulator.live(), simulator.lock, again)
        carry_out(simulator, again)
    else:
        pytest.fail("three more runs did not repair it")
    if not unnoticed:
        whole = Simulator(case.live, case.lock, case.file)
        carry_out(whole, plan)
        assert said(case.file, simulator) == said(case.file, whole), f"cut after {until} steps, it ended elsewhere"


def unheard(simulator: Simulator, step: Step, *, is_done: bool = True) -> None:
    """Let a run die over a step, before or after the platform has done it."""
    simulator.begin(step)
    lock = simulator.lock
    if is_done:
        simulator.run(step)
    simulator.lock, simulator.brought = lock, {}


def gets_there(case: World, *, unasked: bool = False) -> None:
    """Let every run die at its first request, of which the lock does not hear: none is ever sent again.

    With `unasked`, nobody has to agree to more than the first plan needed.
    """
    simulator, sent = Simulator(case.live, case.lock, case.file), list[str]()
    agreed = gated(plan_site(case.file, case.live, case.lock))
    while True:
        plan = plan_site(case.file, simulator.live(), simulator.lock)
        assert not unasked or gated(plan) <= agreed
        steps = take_first_part(plan).steps
        first = next((at for at, step in enumerate(steps) if step.call not in LOCAL), len(steps))
        carry_out(simulator, plan, until=first)
        if first == len(steps):
            return
        step = steps[first]
        assert str((step.call, step.id, step.body)) not in sent, sent
        sent.append(str((step.call, step.id, step.body)))
        unheard(simulator, step)


def gated(plan: SitePlan) -> set[tuple[str, str]]:
    return {(gate.scope, ref) for gate in plan.gates for ref in gate.refs}


def said(file: SiteFile, simulator: Simulator) -> dict[str, Any]:
    """What the things of a site say, by their refs, whatever their ids."""
    live = simulator.live()
    refs = {id: ref for ref, id in find_matched_ids(file, live, simulator.lock).items()}

    def named(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: named(member) for name, member in value.items()}
        return refs.get(value, value) if isinstance(value, str) else value

    return {named(thing.id): (named(thing.parent), named(thing.fields)) for thing in live.items.values()}


@given(SEEDS)
@example(100)  # the sections that are declared cannot be made beside what stands at the root
@example(667)  # a site gets its first sections, and what stood at its root other conditions
@example(9000183)  # a redirect is to lead to another page, which is a conflict
@example(1714)  # a redirect was deleted, and the section that it led to is made anew by the same plan
@settings(deadline=None, max_examples=50)
def test_a_plan_converges_and_exposes_doubles_and_loses_nothing_on_the_way(seed: int) -> None:
    follows_through(world(seed))


@given(SEEDS)
@example(20006103)  # an entry has the id of what the file names as another item, and its own item cannot be planned
@example(20001900)  # what is to be deleted late has an entry that is about something else
@example(126218365)  # a group is to move into one that stands within it, and that a conflict keeps there
@settings(deadline=None, max_examples=50)
def test_a_lock_with_the_ids_of_other_things_lets_none_of_them_go_and_comes_to_rest(seed: int) -> None:
    comes_to_rest(confused(seed))


@given(SEEDS, st.booleans())
@example(20002116, False)  # the file names by its id the redirect that has the source of another one
@settings(deadline=None, max_examples=30)
def test_a_plan_cut_after_any_step_is_repaired_by_the_next(seed: int, unnoticed: bool) -> None:
    recovers(world(seed), random.Random(seed), unnoticed=unnoticed)


@given(SEEDS)
@example(0)  # the default section is chosen once more before the moves
@example(29)  # an override is written that looks as if it were there already
@settings(deadline=None, max_examples=10)
def test_runs_that_all_die_at_their_first_request_never_repeat_one_and_get_there(seed: int) -> None:
    gets_there(world(seed))


# A site without sections gets some, and the default is not the first of them in the file; a new section begins with one
# of two variants on the holding space, of which the default is not the first.
@pytest.mark.parametrize("seed", [2, 10])
def test_after_a_run_that_died_nobody_has_to_agree_to_more(seed: int) -> None:
    gets_there(world(seed), unasked=True)


@pytest.mark.parametrize("start", sample_cases(range(0, 2000, 500), long=(0,)))
def test_many_worlds(start: int) -> None:
    for seed in range(start, start + 500):
        follows_through(world(seed))
        comes_to_rest(confused(seed))
        for unnoticed in (False, True):
            recovers(world(seed), random.Random(seed), unnoticed=unnoticed)
        gets_there(world(seed))
