"""A site follows its file, whatever both are: it converges, shows nothing on the way, and gets over any death."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from random import Random

import pytest

from syncd.layout.site.read.declared import SiteFile
from syncd.plan.site.compose import plan_site
from syncd.platform.settings import PlatformSettings
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.site import read_live
from tests.sampling import sample_cases
from tests.sites.agreement import differences
from tests.sites.drawn import Drawn, draw, edited, file_of
from tests.sites.stage import KINDS, Killed, Stage, Wire, create_stage
from tests.sites.watching import Watcher

SEEDS = 150
CASES = [(seed, beyond) for beyond in (True, False) for seed in range(SEEDS)]
STEPS = 3
Platforms = Callable[[bool], Stage]


@pytest.fixture(scope="module")
def platforms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platforms]:
    """Serve one platform for all sites with the operations beyond the document, and one without them."""
    with ExitStack() as stack:

        @cache
        def served(beyond: bool) -> Stage:
            root = tmp_path_factory.mktemp("site")
            return stack.enter_context(create_stage(root, PlatformSettings(site_write=beyond)))

        yield served


def declared(stage: Stage, drawn: Drawn) -> SiteFile:
    return file_of(drawn, stage.organization, stage.site, stage.holding)


def assert_there(stage: Stage, file: SiteFile) -> None:
    """The next run has nothing to do, and the platform is as the file says but for what no request can do."""
    wire = Wire()
    with stage.workspace(wire) as workspace:
        lock_writer = LockWriter(workspace, file)
        live = read_live(workspace, file, lock_writer.load(), kinds=KINDS)
        plan = plan_site(file, live, lock_writer.lock)
        assert not plan.steps, plan.steps
        found = list(differences(file, live, lock_writer.lock))
    assert not found or plan.select_lines("blocked"), found
    again = stage.apply(file, wire)
    assert (again.exit_code, again.steps) == (0, ())
    assert not [line for line in wire.sent if not line.startswith("GET")]


@pytest.mark.long
@pytest.mark.parametrize(("seed", "beyond"), sample_cases(CASES, kept=(SEEDS + 7,), long=range(0, len(CASES), 3)))
def test_a_site_becomes_what_its_file_says_and_shows_no_secret(platforms: Platforms, seed: int, beyond: bool) -> None:
    chance, stage = Random(seed), platforms(beyond).emptied()
    drawn = draw(chance, stage.spaces)
    for _ in range(STEPS):
        file = declared(stage, drawn)
        watcher = Watcher(stage, drawn, file)
        done = stage.apply(file, Wire(watcher))
        assert not watcher.broken, watcher.broken
        assert (done.exit_code, done.failed, done.skipped) == (0, (), ()), done
        assert_there(stage, file)
        drawn = edited(chance, drawn)


@pytest.mark.parametrize(("seed", "beyond"), sample_cases(CASES, kept=(3,), long=range(0, len(CASES), 3)))
def test_killed_after_any_write_the_next_run_repairs(platforms: Platforms, seed: int, beyond: bool) -> None:
    chance, stage = Random(seed), platforms(beyond).emptied()
    drawn = draw(chance, stage.spaces)
    lives = chance.randrange(9)
    for _ in range(STEPS):
        file = declared(stage, drawn)
        watcher = Watcher(stage, drawn, file)
        deaths = 0
        while deaths < 4:
            try:
                done = stage.apply(file, Wire(watcher, lives=lives))
            except Killed:
                deaths += 1
                lives = chance.randrange(1, 9)
            else:
                break
        else:
            done = stage.apply(file, Wire(watcher))
        assert not watcher.broken, watcher.broken
        assert done.exit_code == 0, done
        assert_there(stage, file)
        drawn = edited(chance, drawn)
