"""Whatever the file, the platform and the lock: a plan converges, exposes nothing, loses nothing, and can be cut."""

import random
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncd.layout.site.declared import SiteFile
from syncd.plan.site.compose import plan_site
from syncd.plan.site.match import matched
from tests.plan.site.promises import carry_out, deletes_are_owned
from tests.plan.site.simulator import Simulator
from tests.sites.worlds import World, world

SEEDS = st.integers(0, 2**32)


def follows_through(case: World) -> None:
    plan = plan_site(case.file, case.live, case.lock)
    assert plan == plan_site(case.file, case.live, case.lock), "the same sides, another plan"
    deletes_are_owned(case.file, case.live, case.lock, plan)
    simulator = Simulator(case.live, case.lock, case.file)
    carry_out(simulator, plan)
    assert not plan_site(case.file, simulator.live(), simulator.lock).steps


def recovers(case: World, dice: random.Random, *, unnoticed: bool) -> None:
    """Cut the plan after some step, of which the lock may not have heard, and go on with new plans."""
    plan = plan_site(case.file, case.live, case.lock)
    until = dice.randint(0, len(plan.steps))
    simulator = Simulator(case.live, case.lock, case.file)
    carry_out(simulator, plan, until=until)
    if unnoticed and until < len(plan.steps) and plan.steps[until].call not in ("adopt", "forget"):
        lock = simulator.lock
        simulator.run(plan.steps[until])
        simulator.lock, simulator.brought = lock, {}
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


def said(file: SiteFile, simulator: Simulator) -> dict[str, Any]:
    """What the things of a site say, by their refs, whatever their ids."""
    live = simulator.live()
    refs = {id: ref for ref, id in matched(file, live, simulator.lock).items()}

    def named(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: named(member) for name, member in value.items()}
        return refs.get(value, value) if isinstance(value, str) else value

    return {named(thing.id): (named(thing.parent), named(thing.fields)) for thing in live.things.values()}


@given(SEEDS)
@example(1714)  # a redirect was deleted, and the section that it led to is made anew by the same plan
@settings(deadline=None, max_examples=50)
def test_a_plan_converges_and_exposes_doubles_and_loses_nothing_on_the_way(seed: int) -> None:
    follows_through(world(seed))


@given(SEEDS, st.booleans())
@settings(deadline=None, max_examples=30)
def test_a_plan_cut_after_any_step_is_repaired_by_the_next(seed: int, unnoticed: bool) -> None:
    recovers(world(seed), random.Random(seed), unnoticed=unnoticed)


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 4000, 500))
def test_many_worlds(start: int) -> None:
    for seed in range(start, start + 500):
        follows_through(world(seed))
        for unnoticed in (False, True):
            recovers(world(seed), random.Random(seed), unnoticed=unnoticed)
