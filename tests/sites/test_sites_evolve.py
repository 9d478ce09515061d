"""A real site, one like it and the example of the notes: an import changes nothing, and edits end where they should."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from syncd.api.client import Client
from syncd.layout.site.write.patch import apply_patches
from syncd.model.redirect import SiteRedirectWrite
from syncd.platform.settings import PlatformSettings
from syncd.sync.site.flow import PreparedPlan, prepare_plan, run_plan
from syncd.sync.site.import_site import ImportTarget, import_site
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.site_file import SiteFileTexts
from syncd.sync.workspace import Workspace
from tests.layout.site.example import OTHERS, PATH, SITE_FILE
from tests.sampling import sample_cases
from tests.sites.edits import Desk, edited, patches
from tests.sites.evolve import alike, evolve, put_site, put_space
from tests.sites.stage import Stage, create_stage
from tests.sites.state import asked, differences

SPARE = 8
FEW, MANY = 2, 10
"""Edits upon one site, one after the other: what one left behind is what the next one finds."""
POLICY = {
    "prune": {"redirects": "owned", "structure": "owned"},
    "allow_empty": True,
    "allow_unshown_types": True,
}


@dataclass
class Team:
    """A site, its file, and everything that happens to them."""

    stage: Stage
    text: str = ""
    others: dict[str, str] = field(default_factory=dict)
    apart: list[dict[str, Any]] = field(default_factory=list)
    """Redirects that stand in other files."""
    path: str = "site.yaml"

    @property
    def wish(self) -> SiteOptions:
        return SiteOptions(self.path, lock="state")

    @property
    def document(self) -> dict[str, Any]:
        return yaml.safe_load(self.text)  # type: ignore[no-any-return]

    def take_over(self) -> None:
        """Import the site; the plan that is left must be empty, and so must be the next one."""
        with self.stage.workspace() as workspace:
            taken = import_site(workspace, ImportTarget(self.stage.organization, self.stage.site, self.path))
            assert not taken.plan, taken.plan.lines
            assert not [one for one in taken.findings if one.severity == "error"]
            self.text = taken.files[self.path]
            lock_writer = LockWriter(workspace, taken.file, "state")
            lock_writer.load()
            lock_writer.save(taken.lock.items)
            lock_writer.finish()
        assert not self.plan().plan

    def plan(self) -> PreparedPlan:
        with self.stage.workspace() as workspace:
            return self._prepared(workspace)

    def follow(self) -> None:
        """Plan and apply with the force that the plan names, and look: nothing is left, and all is as declared."""
        with self.stage.workspace() as workspace:
            first = self._prepared(workspace)
            force = {gate.scope: gate.count for gate in first.plan.gates}
            workspace = replace(workspace, force=force)
            settled = run_plan(workspace, first, self.wish)
            assert not settled.outcome.exit_code, (settled.outcome, first.plan.lines)
            again = self._prepared(workspace)
        assert not again.plan, ([line for line in again.plan.lines if line.action != "report"], first.plan.steps)
        with Client(self.stage.url, self.stage.token) as client:
            wanted = {**self.document, "redirects": [*self.document["redirects"], *self.apart]}
            server = asked(client, self.stage.organization, self.stage.site, wanted)
        assert not differences(wanted, server)

    def _prepared(self, workspace: Workspace) -> PreparedPlan:
        return prepare_plan(workspace, SiteFileTexts(self.path, self.text, self.others, ""), self.wish)

    def edit(self, desk: Desk, deeds: int) -> list[str]:
        """Let a person edit the file: as patches of its text."""
        before = self.document
        desk.document = before
        after, done = edited(desk, deeds)
        self.text = apply_patches(self.text, self.path, patches(before, after))
        assert self.document == after
        return done


@contextmanager
def team_of(root: Path, shown: Any, settings: PlatformSettings | None = None) -> Iterator[Team]:
    with create_stage(root, settings, spaces=0) as stage:
        yield Team(replace(stage, site=put_site(stage.storage, stage.organization, shown)))


def hire(team: Team, seed: int) -> Desk:
    """Let somebody write a comment, the policy and spaces to come into the file, and return their desk."""
    document = team.document
    stage = team.stage
    with stage.storage.write() as connection:
        made = [put_space(stage.storage, connection, stage.organization, f"Spare {n}") for n in range(SPARE + 1)]
    spaces = {**document["spaces"], "holding": made[0], **{f"spare-{n}": id for n, id in enumerate(made[1:])}}
    wanted = {**document, "policy": POLICY, "spaces": spaces, "redirects": []}
    wanted["structure"] = {**document["structure"], "holding_space": "holding"}
    team.text = "# Nobody but people writes this comment.\n" + apply_patches(
        team.text, team.path, patches(document, wanted)
    )
    return Desk(wanted, Random(seed), [f"spare-{n}" for n in range(SPARE)])


_CASES = [(0, True, FEW), *((seed, seed % 4 != 3, MANY) for seed in range(24))]
_LONG = range(1, len(_CASES), 3)


@pytest.mark.long
@pytest.mark.parametrize(("seed", "site_write", "edits"), sample_cases(_CASES, kept=(0,), long=_LONG))
def test_every_edit_of_a_site_ends_in_an_empty_plan_and_the_declared_state(
    tmp_path: Path, seed: int, site_write: bool, edits: int
) -> None:
    shown = evolve() if seed % 2 == 0 else alike()
    with team_of(tmp_path, shown, PlatformSettings(site_write=site_write)) as team:
        team.take_over()
        desk = hire(team, seed)
        desk.documented = not site_write
        team.follow()
        for number in range(edits):
            done = team.edit(desk, desk.chance.randint(1, 4))
            try:
                team.follow()
            except AssertionError as failure:
                failure.add_note(f"seed {seed}, edit {number}: {', '.join(done)}")
                raise
        assert team.text.startswith("# Nobody but people writes this comment.\n")


@pytest.mark.long
def test_the_example_is_put_in_place_follows_a_rename_and_imports_to_an_empty_plan(tmp_path: Path) -> None:
    with create_stage(tmp_path, spaces=0) as stage, Client(stage.url, stage.token) as client:
        text = SITE_FILE
        spaces = yaml.safe_load(text)["spaces"]
        with stage.storage.write() as connection:
            for alias, id in spaces.items():
                made = put_space(stage.storage, connection, stage.organization, f"Content {alias}")
                text = text.replace(f" {id}", f" {made}")
        text = text.replace("org_lumen", stage.organization).replace("site_8fQ", stage.site)
        team = Team(stage, text.replace("path: developers", "path: api").replace("was: [api]", "was: []"), path=PATH)
        team.others, team.apart = OTHERS, _IN_FILES
        team.text = team.text.replace("  - { from: /api,  ", "  - { from: /gone, ")
        team.follow()
        before = {section.path: section.id for section in client.sections.list(stage.organization, stage.site)}
        elsewhere = {"kind": "external", "url": "https://www.example.org"}
        by_hand = SiteRedirectWrite(source="/beta-program", destination=elsewhere)
        client.redirects.create(stage.organization, stage.site, by_hand)

        team.text = text
        team.follow()
        after = {section.path: section.id for section in client.sections.list(stage.organization, stage.site)}
        assert after == {{"api": "developers"}.get(path, path): id for path, id in before.items()}
        assert "/beta-program" not in {one.source for one in client.redirects.list(stage.organization, stage.site)}

        stage.store = tmp_path / "another.db"
        team.others, team.apart = {}, []
        team.take_over()


_IN_FILES = [
    {"from": "/2025/intro", "to": {"page": "intro", "in": "start/en"}},
    {"from": "/2025/faq", "to": {"url": "https://help.lumen.example/faq?a=1,2"}},
    {"from": "/2025/pay", "to": {"section": "wallet"}},
]
