"""A site with site-spaces at its root gets its first sections; the platform puts what is there into one of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import httpx
import pytest

from syncd.api.client import Client
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import ROOT, Ref
from syncd.model.site import SiteSpaceCreate
from syncd.plan.site.compose import plan_site
from syncd.plan.site.steps import SitePlan
from syncd.sync.site.apply import ApplyResult
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.read.site import read_live
from tests.sites.agreement import differences
from tests.sites.drawn import GATE, Drawn, Section, file_of
from tests.sites.stage import KINDS, WRITES, Killed, Stage, Wire, create_stage


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with create_stage(tmp_path_factory.mktemp("site")) as stage:
        yield stage


@pytest.fixture
def stage(platform: Stage) -> Stage:
    return platform.emptied()


class LosesTheFirst(Wire):
    """A network that loses the answer to the first section that is made."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = super().handle_request(request)
        made = [line for line in self.sent if line.startswith("POST") and "/sections " in line]
        if len(made) == 1 and self.sent[-1] == made[0]:
            raise httpx.ReadError("cut")
        return answer


def put_at_root(stage: Stage, spaces: Sequence[str]) -> list[str]:
    """Link spaces to the root of the site; return the site-spaces' ids."""
    with Client(stage.url, stage.token) as client:
        return [
            client.site_spaces.create(stage.organization, stage.site, SiteSpaceCreate(space_id=space)).id
            for space in spaces
        ]


def of_two(stage: Stage, variants: int = 1, *, default: str = "home", gate: str | None = None) -> SiteFile:
    """A section with the first so many spaces, and another one with the next."""
    drawn = Drawn(stage.spaces)
    for key, spaces in (("home", stage.spaces[:variants]), ("more", stage.spaces[variants : variants + 1])):
        condition = gate if key == "more" else None
        fields = {"title": key.title(), "path": key, "default": key == default, "condition": condition}
        named = [
            {"key": f"v{at}", "space": space, "path": f"v{at}", "default": at == 0} for at, space in enumerate(spaces)
        ]
        drawn.sections[key] = Section(key, fields, named)
        drawn.places[ROOT].append(key)
    drawn.redirects = {f"/old/{key}": {"section": key} for key in drawn.sections}
    return file_of(drawn, stage.organization, stage.site, stage.holding)


def planned(stage: Stage, file: SiteFile) -> tuple[SitePlan, list[str]]:
    """What is still to be done, and how the site differs from its file."""
    with stage.workspace() as workspace:
        lock_writer = LockWriter(workspace, file)
        live = read_live(workspace, file, lock_writer.load(), kinds=KINDS)
        return plan_site(file, live, lock_writer.lock), list(differences(file, live, lock_writer.lock))


def spaces_shown(stage: Stage) -> dict[str, list[tuple[str, str]]]:
    """The site-spaces with their spaces, by the path of their section."""
    with Client(stage.url, stage.token) as client:
        sections = client.sections.list(stage.organization, stage.site)
        return {each.path: [(one.id, one.space.id) for one in each.site_spaces if one.space] for each in sections}


def assert_as_declared(stage: Stage, file: SiteFile, done: ApplyResult, kept: list[str]) -> None:
    assert done.exit_code == 0, (done.failed, done.left.steps)
    plan, found = planned(stage, file)
    assert not plan.lines, plan.lines
    assert not found, found
    there = spaces_shown(stage)
    assert [id for id, _ in there["home"]] == kept
    shown = Counter(space for each in there.values() for _, space in each)
    assert set(shown.values()) == {1}, shown


@pytest.mark.parametrize("variants", [1, 2])
@pytest.mark.parametrize("default", ["home", "more"])
def test_what_stands_at_the_root_becomes_the_section_that_declares_it(
    stage: Stage, variants: int, default: str
) -> None:
    kept = put_at_root(stage, stage.spaces[:variants])
    file = of_two(stage, variants, default=default)
    plan, _ = planned(stage, file)
    assert not plan.select_lines("blocked")
    assert ["/space-1 leads nowhere after this" in one for one in plan.warnings] == [True] * (variants - 1)
    assert {line.ref: line.action for line in plan.lines if line.ref.startswith("section:")}.items() >= {
        "section:home": "update",
        "section:more": "create",
    }.items()
    assert [gate.scope for gate in plan.gates if gate.scope == "defaults"] == ["defaults"] * (default == "more")
    assert_as_declared(stage, file, stage.apply(file), kept)


def test_a_gated_section_beside_the_root_shows_its_content_only_behind_its_condition(stage: Stage) -> None:
    kept = put_at_root(stage, stage.spaces[:1])
    file = of_two(stage, gate=GATE)
    wire = Wire()
    done = stage.apply(file, wire)
    assert_as_declared(stage, file, done, kept)
    made = next(line for line in wire.sent if line.startswith("POST") and "/sections " in line)
    assert stage.holding in made, "it begins on the holding space"


def test_what_syncd_put_at_the_root_is_known_by_its_id_under_its_new_key(stage: Stage) -> None:
    drawn = of_two(stage)
    root = drawn.items[Ref("variant:home/v0")]
    flat = replace(
        drawn,
        items={Ref("variant:main"): replace(root, key="main", parent=ROOT)},
        orders={ROOT: (Ref("variant:main"),)},
        managed=frozenset({"structure"}),
    )
    assert stage.apply(flat).exit_code == 0
    with Client(stage.url, stage.token) as client:
        kept = [one.id for one in client.site_spaces.list(stage.organization, stage.site)]
    assert_as_declared(stage, drawn, stage.apply(drawn), kept)


def test_the_path_that_the_platform_chooses_meanwhile_needs_no_bridge(stage: Stage) -> None:
    kept = put_at_root(stage, stage.spaces[:2])
    file = of_two(stage, 2, default="more")
    bridge = replace(file.items[Ref("redirect:/old/home")], key="/space-1")
    bridge = replace(bridge, fields={"source": "/space-1", "to": {"variant": "home/v1"}})
    policy = replace(file.policy, require_bridge=True)
    assert planned(stage, replace(file, policy=policy))[0].select_lines("blocked")
    file = replace(file, policy=policy, items={**file.items, bridge.ref: bridge})
    assert_as_declared(stage, file, stage.apply(file), kept)


@pytest.mark.parametrize("writes", range(4))
def test_a_run_that_was_killed_is_completed_by_the_next(stage: Stage, writes: int) -> None:
    kept = put_at_root(stage, stage.spaces[:2])
    file = of_two(stage, 2)
    with pytest.raises(Killed):
        stage.apply(file, Wire(lives=writes))
    assert not planned(stage, file)[0].list_drift()
    assert_as_declared(stage, file, stage.apply(file), kept)


def test_a_run_that_is_killed_at_each_of_its_writes_gets_there(stage: Stage) -> None:
    kept = put_at_root(stage, stage.spaces[:2])
    file, runs = of_two(stage, 2, default="more"), 0
    while True:
        try:
            done = stage.apply(file, Wire(lives=0))
        except Killed:
            runs += 1
            assert runs < 40
        else:
            break
    assert_as_declared(stage, file, done, kept)


def test_the_section_that_the_platform_makes_is_no_twin_of_the_first_whose_answer_is_lost(stage: Stage) -> None:
    kept = put_at_root(stage, stage.spaces[:1])
    file, wire = of_two(stage), LosesTheFirst()
    assert_as_declared(stage, file, stage.apply(file, wire), kept)
    made = [line for line in wire.sent if line.startswith("POST") and "/sections " in line]
    assert len(made) == 1
    assert not [line for line in wire.sent if line.startswith("DELETE")]


def test_a_single_section_waits_for_a_second_and_writes_nothing(stage: Stage) -> None:
    put_at_root(stage, stage.spaces[:2])
    drawn = of_two(stage, 2)
    left = {ref: item for ref, item in drawn.items.items() if "more" not in ref}
    orders = {ROOT: (Ref("section:home"),), Ref("section:home"): drawn.orders[Ref("section:home")]}
    only = replace(drawn, items=left, orders=orders)
    plan, _ = planned(stage, only)
    (line,) = [line for line in plan.select_lines("blocked") if line.ref == "section:home"]
    assert line.manual == "declare one section with all of them, and a second section"
    wire = Wire()
    stage.apply(only, wire)
    assert not [sent for sent in wire.sent if sent.split()[0] in WRITES and "/sections" in sent]
