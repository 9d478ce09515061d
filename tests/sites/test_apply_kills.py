"""What a dead run did and could not write down: the next one finds it out, or counts on its being possible."""

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from random import Random

import pytest

from syncd.api.client import Client
from syncd.layout.site.read.declared import OnDrift, SiteFile
from syncd.model.redirect import SiteRedirectUpdate
from syncd.model.ref import ROOT, Ref
from syncd.plan.site.compose import plan_site
from syncd.plan.site.steps import SitePlan
from syncd.platform.settings import PlatformSettings
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.site import read_live
from tests.sampling import sample_cases
from tests.sites.agreement import differences
from tests.sites.drawn import Drawn, Section, draw, edited, file_of
from tests.sites.stage import KINDS, Killed, Stage, Wire, create_stage

Platforms = Callable[[bool], Stage]
OWNED = {"structure": "owned", "redirects": "owned"}
CASES = [(seed, beyond) for beyond in (True, False) for seed in range(60)]
RUNS = 200
"""More than any site that is drawn takes requests."""


@pytest.fixture(scope="module")
def platforms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platforms]:
    """Serve one platform for all sites with the operations beyond the document, and one without them."""
    with ExitStack() as stack:

        @cache
        def served(beyond: bool) -> Stage:
            return stack.enter_context(
                create_stage(tmp_path_factory.mktemp("site"), PlatformSettings(site_write=beyond))
            )

        yield served


@pytest.fixture
def stage(platforms: Platforms) -> Stage:
    return platforms(True).emptied()


def declared(stage: Stage, drawn: Drawn, *, bridges: bool = False, on_drift: OnDrift = "report") -> SiteFile:
    file = file_of(drawn, stage.organization, stage.site, stage.holding)
    return replace(
        file,
        policy=replace(file.policy, require_bridge=bridges, on_drift={"structure": on_drift, "redirects": on_drift}),
    )


def of_two(stage: Stage) -> Drawn:
    """A site of two sections, both open, and a redirect to each."""
    drawn = Drawn(stage.spaces)
    for key, space in zip(("home", "more"), stage.spaces, strict=False):
        fields = {"title": key.title(), "path": key, "default": key == "home"}
        drawn.sections[key] = Section(key, fields, [variant("en", space, default=True)])
        drawn.places[ROOT].append(key)
        drawn.redirects[f"/old/{key}"] = {"section": key}
    return drawn


def variant(key: str, space: str, *, default: bool = False) -> dict[str, object]:
    return {"key": key, "space": space, "path": key, "default": default}


def planned(stage: Stage, file: SiteFile) -> SitePlan:
    with stage.workspace() as workspace:
        lock_writer = LockWriter(workspace, file)
        live = read_live(workspace, file, lock_writer.load(), kinds=KINDS)
        plan = plan_site(file, live, lock_writer.lock)
        assert plan.steps or plan.select_lines("blocked") or not list(differences(file, live, lock_writer.lock))
        return plan


def dies(stage: Stage, file: SiteFile, *, after: int = 1) -> str:
    """Let a run die when so many writes were answered, before it hears of the last one; return that one."""
    wire = Wire(lives=after - 1)
    with pytest.raises(Killed):
        stage.apply(file, wire)
    return wire.sent[-1]


def test_a_default_that_was_chosen_in_vain_is_not_chosen_again_before_the_moves(stage: Stage) -> None:
    drawn = of_two(stage)
    stage.apply(declared(stage, drawn))
    drawn.places[ROOT].reverse()
    file = declared(stage, drawn)
    sent = [dies(stage, file).split(maxsplit=2) for _ in range(2)]
    assert [(method, path.rpartition("/")[2] == stage.site) for method, path, _ in sent] == [
        ("PATCH", True),
        ("PATCH", False),
    ]
    assert stage.apply(file).exit_code == 0
    assert not planned(stage, file).steps


@pytest.mark.parametrize(("seed", "beyond"), sample_cases(CASES, long=range(0, len(CASES), 3)))
def test_runs_that_all_die_at_their_first_write_never_repeat_one_and_get_there(
    platforms: Platforms, seed: int, beyond: bool
) -> None:
    chance, stage = Random(seed), platforms(beyond).emptied()
    drawn = draw(chance, stage.spaces, sections=2)
    for _ in range(2):
        file, written = declared(stage, drawn), set[str]()
        for _ in range(RUNS):
            wire = Wire(lives=0)
            try:
                assert stage.apply(file, wire).exit_code == 0
                break
            except Killed:
                is_twin = wire.sent[-1].startswith("POST")  # two groups may have one title, two variants begin alike
                assert is_twin or wire.sent[-1] not in written, wire.sent[-1]
                written.add(wire.sent[-1])
        assert not planned(stage, file).steps
        drawn = edited(chance, drawn)


def test_what_a_dead_run_made_may_get_its_path_although_every_path_needs_a_bridge(stage: Stage) -> None:
    drawn = of_two(stage)
    stage.apply(declared(stage, drawn, bridges=True))
    drawn.sections["home"].variants.append(variant("fr", stage.spaces[2]))
    third = Section("third", {"title": "Something", "path": "third", "default": False}, [])
    third.variants = [variant("en", stage.spaces[3], default=True), variant("fr", stage.spaces[4])]
    drawn.sections["third"] = third
    drawn.places[ROOT].append("third")
    file = declared(stage, drawn, bridges=True)
    made = [dies(stage, file) for _ in range(4)]
    assert [line.split()[0] for line in made].count("POST") >= 2, made
    assert stage.apply(file).exit_code == 0
    plan = planned(stage, file)
    assert not plan.steps
    assert not plan.select_lines("blocked")


@pytest.mark.parametrize("writes", sample_cases((1, 2, 3), kept=(2,)))
def test_what_a_dead_run_deleted_and_is_declared_again_is_made_again(stage: Stage, writes: int) -> None:
    drawn = of_two(stage)
    drawn.sections["home"].variants.append(variant("fr", stage.spaces[2]))
    whole = declared(stage, drawn)
    stage.apply(whole)
    less = copy.deepcopy(drawn)
    less.sections["home"].variants.pop()
    del less.sections["more"]
    less.places[ROOT].remove("more")
    less.redirects = {"/old/home": {"section": "home"}}
    gone = dies(stage, declared(stage, less), after=writes)
    assert gone.startswith("DELETE"), gone
    assert not planned(stage, whole).list_drift()
    assert stage.apply(whole).exit_code == 0
    assert not planned(stage, whole).steps


@pytest.mark.long
def test_what_a_dead_run_was_deleting_and_somebody_else_deletes_is_no_riddle_either(stage: Stage) -> None:
    drawn = of_two(stage)
    whole = declared(stage, drawn)
    stage.apply(whole)
    less = copy.deepcopy(drawn)
    del less.redirects["/old/more"]
    dies(stage, declared(stage, less))
    assert stage.apply(declared(stage, less)).exit_code == 0
    with stage.workspace() as workspace:
        assert LockWriter(workspace, whole).load().in_flight == {}
    assert not planned(stage, declared(stage, less)).steps


@pytest.mark.parametrize("is_killed", sample_cases((False, True), kept=(1,)))
def test_a_redirect_follows_its_section_that_is_made_anew_although_somebody_led_it_elsewhere(
    stage: Stage, is_killed: bool
) -> None:
    file = declared(stage, of_two(stage), on_drift="revert")
    stage.apply(file)
    with stage.workspace() as workspace:
        ids = {ref: entry.id for ref, entry in LockWriter(workspace, file).load().items.items()}
    with Client(stage.url, stage.token) as client:
        client.sections.delete(stage.organization, stage.site, ids[Ref("section:more")])
        elsewhere = SiteRedirectUpdate(destination={"kind": "external", "url": "https://example.com/theirs"})
        client.redirects.update(stage.organization, stage.site, ids[Ref("redirect:/old/more")], elsewhere)
    if is_killed:
        assert dies(stage, file).startswith("POST")
    plan = planned(stage, file)
    assert not [line for line in plan.lines if line.is_conflict]
    assert stage.apply(file).exit_code == 0
    assert not planned(stage, file).steps
