"""Clones are caches: whoever loses all of them loses nothing, and what was already done is not done again."""

import shutil
from pathlib import Path
from threading import Thread

import pytest

from syncd.fleet.cache import Cache
from syncd.fleet.database import FleetDatabase
from syncd.fleet.schedule import wake_repositories
from tests.checkouts import git
from tests.fleet.conftest import Fleet
from tests.fleet.fleet_site import PRUNED, FleetSite


def lose_cache(fleet: Fleet, worker: str = "a") -> None:
    shutil.rmtree(fleet.root / f"cache-{worker}")


@pytest.mark.story
def test_a_deleted_cache_loses_no_conflict_proposal_or_plan(fleet: Fleet) -> None:
    site = FleetSite(fleet)
    fleet.commit("Site", {"site.yaml": site.render("guides", "api", "more")})
    fleet.make(extra="[repository.site]\n")
    fleet.run_here("a")
    fleet.world.edit_on_platform({"options.md": "# Options\n\n* theirs\n* second\n"})
    fleet.commit("Edit", {"options.md": "# Options\n\n* ours\n* second\n", "README.md": "# Home\n\nkept token\n"})
    site.commit("guides", policy=PRUNED)
    fleet.run_here("a")
    fleet.run_here("a")
    (request,), (digest,) = fleet.list_requests(), site.pending()
    waits = fleet.query("SELECT report FROM syncd_fleet_repositories")[0][0]
    refs = git(fleet.hosted, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")

    lose_cache(fleet)
    fleet.run_here("a")
    assert [one.id for one in fleet.list_requests()] == [request.id], "nothing is proposed again"
    assert site.pending() == [digest]
    again = fleet.query("SELECT report FROM syncd_fleet_repositories")[0][0]
    conflicts = [[(one["flow"], one["key"], one["command"]) for one in each["outcomes"]] for each in (waits, again)]
    assert conflicts[0] == conflicts[1]
    assert [(flow, key) for flow, key, _ in conflicts[1] if flow == "conflict"] == [("conflict", "options.md")]
    assert git(fleet.hosted, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads") == refs

    assert fleet.syncd("fleet", "approve", digest).returncode == 0
    lose_cache(fleet)
    fleet.run_here("a")
    assert site.sections() == {"guides"}, "the approval was not in the cache"
    lose_cache(fleet)
    fleet.commit("Edit again", {"README.md": "# Home\n\nkept token, and another\n"})
    fleet.run_here("a")
    assert [one.id for one in fleet.list_requests()] == [request.id], "the same change request goes on"
    assert "another" in fleet.read_texts(request)


def test_what_one_worker_did_already_no_other_does_again(fleet: Fleet) -> None:
    """A wake that came while a run went on makes one more run; a job that comes too late makes none."""
    fleet.make()
    fleet.run_here("a")
    done = fleet.count_runs()
    with FleetDatabase(fleet.url) as database:
        for _ in range(3):
            wake_repositories(database, ["docs"])
    fleet.run_here("b")
    assert fleet.count_runs() == done + 1
    assert fleet.try_here("c") is None, "another worker has handled the wake"
    assert fleet.count_runs() == done + 1


def test_a_clone_in_which_no_run_has_ended_is_made_whole_again(fleet: Fleet) -> None:
    with Cache(fleet.root / "cache", bytes_max=1 << 30) as cache:
        with cache.hold_clone("docs", "main") as path:
            (path / "config").unlink()
        with cache.hold_clone("docs", "main"):
            pass
        assert git(path, "config", "core.bare") == "true", "a worker died when it made it"
        cache.note_use("docs")
        shutil.rmtree(path)
        with cache.hold_clone("docs", "main"):
            assert git(path, "symbolic-ref", "HEAD") == "refs/heads/main", "somebody deleted it"
        cache.note_use("docs")
        (path / "config").unlink()
        with cache.hold_clone("docs", "main"):
            pass
        assert not (path / "config").exists(), "and else Git is not started"


def test_a_clone_that_is_made_while_its_former_one_goes_keeps_its_note(tmp_path: Path) -> None:
    def make_again() -> None:
        with cache.hold_clone("old", "main"):
            pass
        cache.note_use("old")

    maker = Thread(target=make_again)

    class Removing(Cache):
        def _find_note(self, name: str) -> Path:
            if name == "old" and maker.ident is None and not self.find_clone("old").exists():
                maker.start()
                maker.join(0.5)
            return super()._find_note(name)

    with Cache(tmp_path, bytes_max=1 << 30) as cache:
        for name in ("old", "new"):
            with cache.hold_clone(name, "main"):
                pass
            cache.note_use(name)
    with Removing(tmp_path, bytes_max=0) as cache:
        cache.note_use("new")
        maker.join(10)
        assert (tmp_path / "old.size").is_file()
