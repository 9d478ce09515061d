"""What plans changed is kept: the newest fifty of a site, none that is too old, and each plan once."""

from pathlib import Path

from syncd.store.backups import KEPT_PLANS, read_backups
from syncd.store.status import Backup
from syncd.store.store import Store


def at(number: int) -> str:
    return f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000+00:00"


def test_only_the_newest_plans_of_a_site_are_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        store.backups.save(Backup("other", "d0", at(0), "{}"), since="")
        for number in range(KEPT_PLANS + 2):
            store.backups.save(Backup("site", f"d{number}", at(number), "{}"), since="")
        kept = [one.digest for one in store.backups.list_backups("site")]
        assert kept == [f"d{number}" for number in reversed(range(2, KEPT_PLANS + 2))]
        assert len(store.backups.list_backups()) == KEPT_PLANS + 1


def test_what_is_too_old_goes_and_a_plan_that_runs_again_is_kept_once(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        for number in range(3):
            store.backups.save(Backup("site", f"d{number}", at(number), "{}"), since="")
        store.backups.save(Backup("site", "d0", at(9), '{"a": 1}'), since=at(2))
        assert store.backups.list_backups("site") == [
            Backup("site", "d0", at(9), '{"a": 1}'),
            Backup("site", "d2", at(2), "{}"),
        ]


def test_who_only_reads_creates_and_repairs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    assert read_backups(path) == []
    assert list(tmp_path.iterdir()) == []
    with Store(path) as store:
        store.backups.save(Backup("site", "d0", at(0), "{}"), since="")
        store.backups.save(Backup("other", "d1", at(1), "{}"), since="")
        assert read_backups(path) == store.backups.list_backups()
    path.write_bytes(b"no database" * 1000)
    assert read_backups(path) == []
    assert path.read_bytes().startswith(b"no database")
    assert not list(tmp_path.glob("*.damaged-*"))
