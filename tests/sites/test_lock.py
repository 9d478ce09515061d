"""The lock outlives everything: each step is written down at once, and committed when nothing is in the way."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from syncd.errors import SyncdError
from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import Ref
from syncd.plan.site.live_state import InFlightRequest, LockEntry, SiteLock
from syncd.plan.site.lockfile.lockfile import find_lock_path, parse_lock, render_lock
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import LockPlace
from syncd.sync.workspace import Workspace

FILE = SiteFile("docs/site.yaml", "org", "site1")
ONE, TWO, THREE = (LockEntry(f"id{number}", "created", {"title": str(number)}) for number in range(3))


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    path = tmp_path / "clone"
    Repository.create(path, branch="main").close()
    (path / "docs").mkdir()
    (path / "docs" / "site.yaml").write_text("version: 1\n")
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "--message", "First")
    return path


def git(clone: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=clone, capture_output=True, text=True, check=True).stdout


@contextmanager
def workspace(clone: Path, store: str = "state.db") -> Iterator[Workspace]:
    with Repository.open(clone) as repository, Store(clone.parent / store) as opened:
        yield Workspace(None, repository, opened, now=lambda: datetime(2026, 5, 1, tzinfo=UTC))  # type: ignore[arg-type]


def load(clone: Path, store: str = "state.db", place: LockPlace = "repo") -> SiteLock:
    with workspace(clone, store) as opened:
        return LockWriter(opened, FILE, place).load()


def keep(clone: Path, *, store: str = "state.db", place: LockPlace = "repo", **changes: LockEntry | None) -> str:
    with workspace(clone, store) as opened:
        lock_writer = LockWriter(opened, FILE, place)
        lock_writer.save({Ref(f"redirect:/{name}"): entry for name, entry in changes.items()})
        return lock_writer.finish("abc123")


def save(clone: Path, **changes: LockEntry | None) -> None:
    """A run that dies before it can commit."""
    with workspace(clone) as opened:
        LockWriter(opened, FILE).save({Ref(f"redirect:/{name}"): entry for name, entry in changes.items()})


def committed(clone: Path) -> SiteLock:
    return parse_lock(git(clone, "show", "main:docs/site.lock.json"), at="docs/site.lock.json")


def test_the_lock_is_committed_beside_the_site_file_and_shown_in_the_work_tree(clone: Path) -> None:
    assert keep(clone, a=ONE) == ""
    assert committed(clone).items == {"redirect:/a": ONE}
    assert (clone / "docs" / "site.lock.json").read_text() == render_lock(committed(clone))
    assert git(clone, "log", "-1", "--format=%B").strip() == "chore(syncd): lock serial 1\n\nSyncd-Plan: abc123"
    assert git(clone, "status", "--porcelain") == ""
    assert find_lock_path("site.yaml") == "site.lock.json"


def test_nothing_new_is_no_commit(clone: Path) -> None:
    keep(clone, a=ONE)
    tip = git(clone, "rev-parse", "main")
    assert keep(clone, a=ONE) == ""
    assert keep(clone) == ""
    assert git(clone, "rev-parse", "main") == tip


def test_what_a_dead_run_wrote_down_is_known_and_committed_by_the_next(clone: Path) -> None:
    keep(clone, a=ONE, b=TWO)
    save(clone, c=THREE, a=None)
    known = load(clone)
    assert known.items == {"redirect:/b": TWO, Ref("redirect:/c"): THREE}
    assert keep(clone) == ""
    assert (committed(clone).items, committed(clone).serial) == (known.items, 2)
    assert committed(clone).lineage == known.lineage != ""


def test_an_uncommitted_edit_in_the_way_lets_the_lock_wait_in_the_store(clone: Path) -> None:
    keep(clone, a=ONE)
    (clone / "docs" / "site.lock.json").write_text("{}\n")
    (clone / "docs" / "site.yaml").write_text("version: 1 # edited\n")
    assert "not committed yet" in keep(clone, b=TWO)
    assert load(clone).items == {"redirect:/a": ONE, "redirect:/b": TWO}
    git(clone, "checkout", "--quiet", "--", "docs/site.lock.json")
    assert keep(clone) == ""
    assert committed(clone).items == {"redirect:/a": ONE, "redirect:/b": TWO}
    assert git(clone, "status", "--porcelain") == " M docs/site.yaml\n"


def test_another_clones_lock_wins_and_what_only_this_store_knows_is_added(clone: Path) -> None:
    keep(clone, a=ONE, b=TWO)
    save(clone, c=THREE, a=replace(ONE, applied={"title": "mine"}), b=None)
    theirs = replace(
        committed(clone), serial=7, items={Ref("redirect:/a"): ONE, Ref("redirect:/d"): replace(TWO, id="id9")}
    )
    (clone / "docs" / "site.lock.json").write_text(render_lock(theirs))
    git(clone, "commit", "--quiet", "--all", "--message", "Theirs")
    assert load(clone).items == {**theirs.items, Ref("redirect:/c"): THREE}
    assert keep(clone) == ""
    assert committed(clone).serial == 8


def test_what_somebody_forgot_elsewhere_does_not_come_back_from_this_store(clone: Path) -> None:
    keep(clone, a=ONE, b=TWO)
    theirs = replace(committed(clone), serial=2, items={Ref("redirect:/a"): ONE})
    (clone / "docs" / "site.lock.json").write_text(render_lock(theirs))
    git(clone, "commit", "--quiet", "--all", "--message", "Theirs")
    assert load(clone).items == {"redirect:/a": ONE}


def test_a_deleted_lock_is_an_empty_one(clone: Path) -> None:
    keep(clone, a=ONE)
    git(clone, "rm", "--quiet", "docs/site.lock.json")
    git(clone, "commit", "--quiet", "--message", "Begin anew")
    assert load(clone).items == {}
    assert keep(clone, b=TWO) == ""
    assert (committed(clone).serial, committed(clone).items) == (2, {"redirect:/b": TWO})


def test_a_run_that_dies_right_after_its_commit_leaves_nothing_to_do(clone: Path) -> None:
    keep(clone, a=ONE, b=TWO)
    save(clone, c=THREE, b=None)
    before = (clone.parent / "state.db").read_bytes()
    keep(clone)
    tip = git(clone, "rev-parse", "main")
    (clone.parent / "state.db").write_bytes(before)
    assert load(clone).items == {"redirect:/a": ONE, Ref("redirect:/c"): THREE}
    assert keep(clone) == ""
    assert git(clone, "rev-parse", "main") == tip


def test_a_lost_store_costs_nothing_that_was_committed(clone: Path) -> None:
    keep(clone, a=ONE)
    assert load(clone, "another.db").items == {"redirect:/a": ONE}


@pytest.mark.parametrize("text", ["{", "[]", render_lock(SiteLock("site2", "l", 3)), '{"version": 9, "site": "site1"}'])
def test_an_unreadable_lock_or_another_sites_stops_with_78(clone: Path, text: str) -> None:
    (clone / "docs" / "site.lock.json").write_text(text)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "Broken")
    with pytest.raises(SyncdError) as stopped:
        load(clone)
    assert stopped.value.exit_code == 78


def test_a_link_in_the_locks_place_is_not_followed(clone: Path) -> None:
    (clone / "docs" / "site.lock.json").symlink_to("../elsewhere")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "A link")
    with pytest.raises(SyncdError) as stopped:
        keep(clone, a=ONE)
    assert stopped.value.exit_code == 78
    assert not (clone / "elsewhere").exists()


def test_in_state_nothing_is_committed_and_nothing_is_lost(clone: Path) -> None:
    keep(clone, a=ONE)
    tip = git(clone, "rev-parse", "main")
    assert keep(clone, place="state", b=TWO) == ""
    assert keep(clone, place="state", a=None) == ""
    assert git(clone, "rev-parse", "main") == tip
    assert load(clone, place="state").items == {"redirect:/b": TWO}


def test_from_state_back_to_the_repository_everything_is_committed(clone: Path) -> None:
    keep(clone, place="state", a=ONE, b=TWO)
    assert keep(clone) == ""
    assert committed(clone).items == {"redirect:/a": ONE, "redirect:/b": TWO}


def test_a_step_is_one_transaction_and_json(clone: Path) -> None:
    save(clone, a=ONE)
    with workspace(clone) as opened:
        rows = opened.store.ownership.read_entries("site1")
    assert json.loads(rows["redirect:/a"]) == {"id": "id0", "by": "created", "applied": {"title": "0"}}


@pytest.mark.parametrize("place", ["repo", "state"])
def test_a_request_is_known_from_before_it_is_sent_until_it_is_answered_or_all_is_well(
    clone: Path, place: LockPlace
) -> None:
    keep(clone, place=place, a=ONE)
    requests = {Ref(f"section:{name}"): InFlightRequest("section.create", "", {"title": name}) for name in "abc"}
    with workspace(clone) as opened:
        LockWriter(opened, FILE, place).begin(requests)
    assert load(clone, place=place).in_flight == requests
    with workspace(clone) as opened:
        lock_writer = LockWriter(opened, FILE, place)
        lock_writer.save({Ref("section:a"): TWO}, heard=[Ref("section:a")])
        lock_writer.save({}, heard=[Ref("section:b")])
        lock_writer.finish()
    assert load(clone, place=place).in_flight == {Ref("section:c"): requests[Ref("section:c")]}
    assert place == "state" or "begun" not in render_lock(committed(clone))
    with workspace(clone) as opened:
        LockWriter(opened, FILE, place).finish(settled=True)
    assert load(clone, place=place).in_flight == {}
    assert load(clone, place=place).items == {"redirect:/a": ONE, "section:a": TWO}
