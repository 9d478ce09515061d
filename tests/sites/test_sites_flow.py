"""The site flow as a run meets it: only what is committed counts, and what cannot be read is never empty."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.errors import ConfigInvalid, FileInvalid, OperationInProgress
from syncd.model.redirect import SiteRedirectUpdate
from syncd.model.site import SiteSectionUpdate
from syncd.sync.outcome import Applied, Held, Outcome, Unchanged
from syncd.sync.site.flow import reconcile
from syncd.sync.site.options import SiteOptions
from tests.sites.stage import NOW, Stage, Wire, create_stage

SECTION = """\
    - section: {key}
      title: {key} here
      path: {key}
      default: {default}
      variants: [{{ variant: en, space: {key}, default: true }}]
"""


class Desk:
    """Commits to the tracked branch, and runs the flow at a moment."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.clone = stage, stage.root / "clone"
        self.requests: list[str] = []

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.clone, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def say(self, *sections: str, policy: str = "", rest: str = "", new: bool = True) -> None:
        """Commit a site file with these sections, the first of which greets visitors; new spaces may be shown."""
        spaces = "".join(f"  {key}: {id}\n" for key, id in zip(sections, self.stage.spaces, strict=False))
        items = "".join(SECTION.format(key=key, default=str(key == sections[0]).lower()) for key in sections)
        said = f"{{ allow_new_spaces: {str(new).lower()}, {policy} }}"
        head = f"version: 1\nsite: {{ org: {self.stage.organization}, id: {self.stage.site} }}\npolicy: {said}\n"
        self.commit(f"{head}spaces:\n{spaces}structure:\n  items:\n{items}{rest}".encode())

    def commit(self, data: bytes, path: str = "site.yaml") -> None:
        (self.clone / path).write_bytes(data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Edit")

    def run(
        self, *, hours: float = 0, every: float = 0, force: dict[str, int] | None = None, lock: str = "repo"
    ) -> Outcome:
        """Run the flow so many hours from the beginning."""
        wire = Wire()
        with self.stage.workspace(wire) as workspace:
            at = replace(workspace, now=lambda: NOW + timedelta(hours=hours), force=force or {})
            try:
                return reconcile(at, SiteOptions("site.yaml", every, lock))  # type: ignore[arg-type]
            finally:
                self.requests = wire.sent

    def agree(self, *, hours: float) -> None:
        """Approve the plan that waits."""
        with self.stage.workspace() as workspace:
            (held,) = workspace.store.plans.list_pending()
            moment = (NOW + timedelta(hours=hours)).isoformat()
            workspace.store.plans.approve(held, at=moment, comment="")

    def waiting(self) -> Any:
        """The plan that waits, as JSON."""
        with self.stage.workspace() as workspace:
            (held,) = workspace.store.plans.list_pending()
            return json.loads(held.document)["plan"]

    def paths(self) -> list[str]:
        with Client(self.stage.url, self.stage.token) as client:
            return [each.path for each in client.sections.list(self.stage.organization, self.stage.site)]

    def retitle(self, path: str, title: str) -> None:
        with Client(self.stage.url, self.stage.token) as client:
            for each in client.sections.list(self.stage.organization, self.stage.site):
                if each.path == path:
                    change = SiteSectionUpdate(title=title)
                    client.sections.update(self.stage.organization, self.stage.site, each.id, change)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with create_stage(tmp_path) as stage:
        yield Desk(stage)


def test_a_second_run_writes_nothing_and_most_runs_ask_nothing(desk: Desk) -> None:
    desk.say("home", "api")
    assert isinstance(desk.run(), Applied)
    assert desk.paths() == ["home", "api"]
    tip = desk.git("rev-parse", "main")
    assert desk.run() == Unchanged()
    assert len(desk.requests) <= 12
    assert all(request.startswith("GET") for request in desk.requests)
    assert desk.run(every=300) == Unchanged()
    assert desk.requests == [], "it is not time to look"
    assert desk.run(hours=1, every=300) == Unchanged()
    assert desk.requests
    assert desk.git("rev-parse", "main") == tip, "no lock is committed for nothing"
    desk.say("home", "api", rest="redirects: [{ from: /a, to: { section: api } }]\n")
    assert isinstance(desk.run(hours=1, every=300), Applied), "the file has changed"


def test_a_file_that_is_not_there_or_cannot_be_read_is_never_an_empty_one(desk: Desk) -> None:
    desk.say("home")
    desk.run()
    for data, error in ((b"\xff\xfe", FileInvalid), (b"", FileInvalid), (b"version: 1\n", FileInvalid)):
        desk.commit(data)
        with pytest.raises(error):
            desk.run()
        assert desk.requests == []
    desk.say("home", rest="redirect_files: [more.csv]\n")
    with pytest.raises(FileInvalid, match=r"more\.csv"):
        desk.run()
    (desk.clone / "site.yaml").unlink()
    desk.git("commit", "--quiet", "--all", "--message", "Gone")
    with pytest.raises(ConfigInvalid, match=r"there is no site\.yaml on branch main"):
        desk.run()
    assert desk.paths() == ["home"]


def test_only_what_is_committed_counts_and_nothing_happens_amid_a_rebase(desk: Desk) -> None:
    desk.say("home")
    text = (desk.clone / "site.yaml").read_bytes()
    (desk.clone / "site.yaml").write_bytes(text + b"redirects: [{ from: /a, to: { section: home } }]\n")
    outcome = desk.run()
    assert isinstance(outcome, Applied)
    assert "lock" not in desk.git("log", "-1", "--format=%s", "--", "site.yaml")
    assert not [change for change in outcome.changes if change.noun == "redirect"]
    assert desk.git("diff", "--name-only") == "site.yaml\n", "the edit that is not committed stays"
    (desk.clone / ".git" / "MERGE_HEAD").write_text(desk.git("rev-parse", "main"))
    with pytest.raises(OperationInProgress):
        desk.run()
    assert desk.requests == []


def test_an_approval_holds_a_day_for_one_plan_and_one_run(desk: Desk) -> None:
    desk.say("home", "api", "old")
    desk.run()
    desk.say("home", "api", policy="prune: { structure: owned }")
    held = desk.run(every=300)
    assert isinstance(held, Held)
    assert held.exit_code == 5
    assert desk.run(hours=0.01, every=300) == held, "what waits is told at every run"
    assert desk.requests == []
    desk.agree(hours=1)
    assert isinstance(desk.run(hours=26, every=300), Held), "after a day nobody has agreed"
    desk.agree(hours=26)
    assert isinstance(desk.run(hours=26.01, every=86400), Applied), "an approval is looked at with the next run"
    assert desk.paths() == ["home", "api"]
    with desk.stage.workspace() as workspace:
        assert workspace.store.plans.list_pending() == []
    desk.say("home", policy="prune: { structure: owned }")
    held = desk.run(hours=27)
    assert isinstance(held, Held), "it was used up"
    count = desk.waiting()["gates"][0]["count"]
    assert isinstance(desk.run(hours=27, force={"structure.delete": count + 1}), Held)
    assert isinstance(desk.run(hours=27, force={"structure.delete": count}), Applied)


def test_a_space_is_put_on_a_published_site_only_with_a_persons_word(desk: Desk) -> None:
    desk.say("home", new=False)
    held = desk.run()
    assert isinstance(held, Held)
    assert "space home becomes readable for anyone; so far on no part of the site" in held.why
    assert desk.paths() == []
    desk.say("home")
    assert isinstance(desk.run(), Applied), "nothing was carried out before that the policy could be as new as"
    desk.say("home", "api", new=False)
    assert isinstance(desk.run(), Held)
    desk.say("home", "api")
    assert isinstance(desk.run(), Applied)
    desk.say("home", "api", new=False)
    assert isinstance(desk.run(), Unchanged)
    desk.say("home", "api", "old")
    assert isinstance(desk.run(), Held), "the policy is as new as what it would let through"
    desk.agree(hours=1)
    assert isinstance(desk.run(hours=1), Applied)
    assert desk.paths() == ["home", "api", "old"]


def test_limits_that_are_loosened_with_what_they_would_allow_need_a_person(desk: Desk) -> None:
    desk.say("home", "old", policy="prune: { structure: owned }")
    desk.run()
    loose = "prune: { structure: owned }, limits: { structure: { max_delete: 9 } }"
    desk.say("home", policy=loose)
    assert isinstance(desk.run(), Held)
    assert isinstance(desk.run(), Held), "nobody has agreed since"
    assert isinstance(desk.run(hours=30), Held)
    desk.stage.store.unlink()
    assert isinstance(desk.run(), Held), "a job in CI has no store, and the lock's commit says how it was"
    assert isinstance(desk.run(), Held)
    assert desk.paths() == ["home", "old"]
    desk.say("home", "old", policy=loose)
    assert not desk.run().exit_code
    desk.say("home", policy=loose)
    assert isinstance(desk.run(), Applied)


def test_drift_is_told_once_and_taken_back_or_offered_as_the_policy_says(desk: Desk) -> None:
    desk.say("home", "api")
    desk.run(lock="state")
    assert desk.git("log", "-1", "--format=%s") == "Edit\n", "with its lock in the state, syncd commits nothing"
    desk.retitle("api", "Theirs")
    told = desk.run(lock="state")
    assert isinstance(told, Applied)
    assert not told.changes
    assert any("section:api: title" in note for note in told.notes)
    assert desk.run(lock="state") == Unchanged()
    desk.say("home", "api", policy="on_drift: { structure: accept }")
    offered = desk.run(lock="state")
    assert isinstance(offered, Applied)
    assert [change.key for change in offered.changes] == ["syncd/site/drift"]
    assert "title: Theirs" in desk.git("show", "syncd/site/drift:site.yaml")
    assert not desk.run(lock="state").exit_code
    assert desk.git("log", "--format=%s", "main..syncd/site/drift") == "Accept 1 edit of the site\n"
    desk.git("merge", "--quiet", "syncd/site/drift")
    desk.run(lock="state")
    assert desk.run(lock="state") == Unchanged(), "it is no drift any more"
    desk.say("home", "api", policy="on_drift: { structure: revert }")
    desk.run(lock="state")
    desk.retitle("api", "Again")
    assert isinstance(desk.run(lock="state"), Applied)
    assert desk.run(lock="state") == Unchanged()


def test_what_cannot_be_accepted_is_told_with_the_reason(desk: Desk) -> None:
    policy = "on_drift: { redirects: accept }"
    desk.say("home", "api", policy=policy, rest="redirects: [{ from: [/a, /b], to: { section: home } }]\n")
    desk.run()
    with Client(desk.stage.url, desk.stage.token) as client:
        at = desk.stage.organization, desk.stage.site
        elsewhere = SiteRedirectUpdate(destination={"kind": "external", "url": "https://example.com"})
        (first, _) = client.redirects.list(*at)
        client.redirects.update(*at, first.id, elsewhere)
    told = desk.run()
    assert isinstance(told, Applied)
    assert [note.partition(":")[0] for note in told.notes] == ["redirect", "not accepted"]
    assert "give it an entry of its own" in told.notes[1]
    assert desk.run() == Unchanged(), "it is told once"
