"""The state database keeps what it is told, whole or not at all, and gets over what can happen to a file."""

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from syncd.errors import DiskFull, StoreError, StoreNewer
from syncd.model.anchor import Anchor
from syncd.store.status import FlowOutcome, StoreSummary, read_store_summary
from syncd.store.store import LastSeen, Store
from tests.growing import TIMES, assert_linear

WRITER = Path(__file__).with_name("writer.py")


def anchor(number: int, oid: str = "a" * 40) -> Anchor:
    return Anchor(f"id{number:05}", "page", f"docs/page-{number}.md", f"docs/page-{number}", "f" * 40, oid)


def save(
    store: Store, *anchors: Anchor, commit: str = "c", removed: tuple[str, ...] = (), replace: bool = False
) -> None:
    store.save_last_seen("space", "main", revision="r", commit=commit, put=anchors, removed=removed, replace=replace)


def test_what_was_saved_is_seen_again_by_the_next_process(tmp_path: Path) -> None:
    first, second = anchor(1), Anchor("id2", "file", ".gitbook/assets/é (1).png", "é.png", "", "b" * 64)
    with Store(tmp_path / "deep" / "state.db") as store:
        assert store.read_last_seen("space") is None
        save(store, first, second)
    with Store(tmp_path / "deep" / "state.db") as store:
        assert store.read_last_seen("space") == LastSeen("r", "c", {"id00001": first, "id2": second})
        assert store.read_last_seen("space", "other") is None
        assert store.read_last_seen("other") is None
        assert store.warnings == ()


def test_a_save_carries_only_what_changed(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        save(store, anchor(1), anchor(2), anchor(3))
        save(store, anchor(2, "b" * 40), commit="d", removed=("id00003",))
        assert store.read_last_seen("space") == LastSeen(
            "r", "d", {"id00001": anchor(1), "id00002": anchor(2, "b" * 40)}
        )


def test_replace_forgets_every_former_anchor(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        save(store, anchor(1), anchor(2))
        save(store, anchor(3), replace=True)
        assert store.read_last_seen("space") == LastSeen("r", "c", {"id00003": anchor(3)})
        save(store, replace=True)
        assert store.read_last_seen("space") == LastSeen("r", "c", {})


def test_lanes_and_spaces_are_apart(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        for space, lane in [("a", "main"), ("a", "cr1"), ("b", "main")]:
            store.save_last_seen(space, lane, revision=space, commit=lane, put=[anchor(1)], removed=[])
        store.forget("a", "main")
        assert store.read_last_seen("a") is None
        assert store.read_last_seen("a", "cr1") == LastSeen("a", "cr1", {"id00001": anchor(1)})
        assert store.read_last_seen("b") == LastSeen("b", "main", {"id00001": anchor(1)})


def test_only_the_last_outcome_of_a_flow_is_kept(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        store.record([FlowOutcome("mirror", "guides", "waiting", "no answer", "2026-01-01T00:00:00+00:00")])
        store.record([FlowOutcome("mirror", "api", "applied", "3 changes", "2026-01-01T00:00:01+00:00")])
        store.record([FlowOutcome("mirror", "guides", "unchanged", "", "2026-01-01T00:01:00+00:00")])
        assert store.list_outcomes() == [
            FlowOutcome("mirror", "api", "applied", "3 changes", "2026-01-01T00:00:01+00:00"),
            FlowOutcome("mirror", "guides", "unchanged", "", "2026-01-01T00:01:00+00:00"),
        ]


def test_the_parts_of_an_outcome_are_kept_and_an_older_database_has_none(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    parts = ("why", "hint", "syncd resolve a.md", "main", "p/main")
    outcome = FlowOutcome("conflict", "a.md", "held", "why (hint)", "", *parts)
    with Store(path) as store:
        store.record([outcome])
        assert store.list_outcomes() == [outcome]
        store.record([FlowOutcome("mirror", "a", "unchanged", "", "")], whole=True)
        store.record([FlowOutcome("conflict", "a.md", "unchanged", "", "", branch="main")])
        assert {one.why for one in store.list_outcomes()} == {""}
    with sqlite3.connect(path) as older:
        older.execute("DROP TABLE details")
        older.execute("DROP TABLE pages")
        older.execute("INSERT INTO outcomes VALUES ('conflict', 'a.md', 'held', 'why (hint)', '')")
        older.execute("PRAGMA user_version=4")
    older.close()
    (found, _) = read_store_summary(path).outcomes
    assert (found.sentence, found.hint, found.branch) == ("why (hint)", "", "")
    with Store(path) as store:
        store.record([outcome])
        assert outcome in store.list_outcomes()


def test_a_page_has_an_outcome_in_each_branch(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    one, two = (FlowOutcome("conflict", "a.md", "held", "", "", branch=name) for name in ("main", "docs/two"))
    with Store(path):
        pass
    with sqlite3.connect(path) as older:  # as the version before kept one
        older.execute("DROP TABLE pages")
        older.execute("INSERT INTO outcomes VALUES ('conflict', 'a.md', 'held', '', '')")
        older.execute("INSERT INTO details VALUES ('conflict', 'a.md', '', '', '', 'main', '')")
        older.execute("PRAGMA user_version=5")
    older.close()
    assert read_store_summary(path).outcomes == (one,)
    with Store(path) as store:
        assert store.list_outcomes() == [one]
        store.record([one, two])
        assert store.list_outcomes() == [two, one]
        store.record([dataclasses.replace(one, state="unchanged")])
        assert [(each.branch, each.state) for each in store.list_outcomes()] == [
            ("docs/two", "held"),
            ("main", "unchanged"),
        ]


def test_ten_thousand_anchors_are_saved_and_read_in_linear_time(tmp_path: Path) -> None:
    many = [anchor(number) for number in range(10_000)]

    def saved(store: Store, count: int) -> None:
        save(store, *many[:count], replace=True)
        found = store.read_last_seen("space")
        assert found is not None
        assert len(found.anchors) == count

    with Store(tmp_path / "state.db") as store:
        assert_linear(partial(saved, store), len(many) // TIMES)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def garbage(path: Path) -> None:
    path.write_bytes(b"this is not a database " * 1000)


def torn_pages(path: Path) -> None:
    # The header stays whole; what lies behind it does not.
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE recipes (name TEXT)")
        other.execute("PRAGMA application_id=7")
    other.close()


@pytest.mark.parametrize("damage", [cut, garbage, torn_pages, foreign])
def test_a_damaged_database_is_moved_aside_and_begun_anew(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "state.db"
    for number in (1, 2):
        with Store(path) as store:
            save(store, *(anchor(each) for each in range(200)))
        damage(path)
        damaged = path.read_bytes()
        with Store(path) as store:
            assert store.read_last_seen("space") is None
            save(store, anchor(1))
            assert store.read_last_seen("space") == LastSeen("r", "c", {"id00001": anchor(1)})
            (warning,) = store.warnings
            assert f"state.db.damaged-{number}" in warning
        assert path.with_name(f"state.db.damaged-{number}").read_bytes() == damaged


def test_damage_that_shows_only_while_writing_loses_the_past_but_not_the_write(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, *(anchor(each) for each in range(200)))
    torn_pages(path)
    with Store(path) as store:
        store.record([FlowOutcome("mirror", "guides", "unchanged", "", "")])
        assert [outcome.key for outcome in store.list_outcomes()] == ["guides"]
        assert len(store.warnings) == 1


def test_a_part_never_passes_for_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, anchor(1), anchor(2))
        assert store.read_last_seen("space") is not None
        with Store(path) as other:
            other.forget("space", "main")
        save(store, anchor(2, "b" * 40))
        assert store.read_last_seen("space") is None
        save(store, anchor(1), anchor(2, "b" * 40), replace=True)
        assert store.read_last_seen("space") == LastSeen(
            "r", "c", {"id00001": anchor(1), "id00002": anchor(2, "b" * 40)}
        )


def test_two_processes_that_find_damage_begin_anew_once(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, *(anchor(each) for each in range(200)))
    torn_pages(path)
    with Store(path) as one, Store(path) as two:
        assert one.read_last_seen("space") is None
        save(one, anchor(1))
        assert {path.name for path in tmp_path.glob("*.damaged-1*")} == {
            "state.db.damaged-1",
            "state.db.damaged-1-wal",
            "state.db.damaged-1-shm",
        }
        two.record([FlowOutcome("mirror", "guides", "unchanged", "", "")])
        assert two.read_last_seen("space") == LastSeen("r", "c", {"id00001": anchor(1)})
        assert [len(each.warnings) for each in (one, two)] == [1, 0]
    with Store(path) as store:
        assert store.read_last_seen("space") == LastSeen("r", "c", {"id00001": anchor(1)})


def test_an_older_database_gets_the_tables_that_it_lacks_and_keeps_all_that_it_has(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, anchor(1))
    with sqlite3.connect(path) as older:
        for table in ("plans", "looks"):
            older.execute(f"DROP TABLE {table}")
        older.execute("PRAGMA user_version=1")
    older.close()
    assert read_store_summary(path).pending_plans == ()
    with Store(path) as store:
        assert store.plans.list_pending() == []
        assert store.read_last_seen("space") == LastSeen("r", "c", {"id00001": anchor(1)})


def test_a_newer_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, anchor(1))
    with sqlite3.connect(path) as newer:
        newer.execute("PRAGMA user_version=99")
    newer.close()
    before = path.read_bytes()
    with pytest.raises(StoreNewer, match="schema 99"):
        Store(path)
    assert path.read_bytes() == before


def test_a_path_that_cannot_be_a_database_is_an_error_of_the_store(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path / "file" / "state.db")
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path)


def test_a_full_disk_is_said_and_leaves_the_former_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, anchor(1))

    connect = sqlite3.connect

    def connect_small(*words: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*words, **options)
        connection.execute("PRAGMA max_page_count=20").close()
        return connection

    with monkeypatch.context() as small:
        small.setattr(sqlite3, "connect", connect_small)
        with Store(path) as store:
            with pytest.raises(DiskFull):
                save(store, *(anchor(each) for each in range(5000)), commit="d")
            assert store.read_last_seen("space") == LastSeen("r", "c", {"id00001": anchor(1)})
    with Store(path) as store:
        save(store, *(anchor(each) for each in range(5000)), commit="d")


def test_the_database_is_for_its_owner_only(tmp_path: Path) -> None:
    with Store(tmp_path / "state.db") as store:
        save(store, anchor(1))
        assert {oct(file.stat().st_mode & 0o077) for file in tmp_path.iterdir()} == {"0o0"}


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    writers = [
        subprocess.Popen([sys.executable, WRITER, "lanes", path, name], env=os.environ) for name in ("one", "two")
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with Store(path) as store:
        assert [len(seen.anchors) for lane in ("one", "two") if (seen := store.read_last_seen("space", lane))] == [
            50,
            50,
        ]


def test_a_kill_during_a_save_leaves_the_former_or_the_next_state(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    for trial in range(8):
        with subprocess.Popen([sys.executable, WRITER, "anchors", path], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"saving\n"
            time.sleep(0.03 * trial)
            writer.send_signal(signal.SIGKILL)
        with Store(path) as store:
            seen = store.read_last_seen("space")
            assert seen is not None
            assert store.warnings == ()
            assert {one.oid for one in seen.anchors.values()} == {seen.commit}
            assert len(seen.anchors) == 2000


def test_a_glance_sees_what_was_recorded_while_the_store_is_open(tmp_path: Path) -> None:
    path = tmp_path / "state #1?.db"
    assert read_store_summary(path) == StoreSummary()
    outcome = FlowOutcome("mirror", "guides", "waiting", "no answer", "2026-01-01T00:00:00+00:00")
    with Store(path) as store:
        store.record([outcome])
        save(store, anchor(1))
        assert read_store_summary(path) == StoreSummary((outcome,), ("space",), revisions={"space": "r"})
    assert read_store_summary(path) == StoreSummary((outcome,), ("space",), revisions={"space": "r"})


@pytest.mark.parametrize("damage", [cut, garbage, torn_pages])
def test_a_glance_at_a_damaged_database_shows_nothing_and_changes_nothing(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "state.db"
    with Store(path) as store:
        save(store, *(anchor(number) for number in range(500)))
    damage(path)
    damaged = path.read_bytes()
    read_store_summary(path)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize("tables", ["", "CREATE TABLE notes (text)"], ids=["no-tables-yet", "of-another-program"])
def test_a_glance_at_what_the_next_run_begins_anew_shows_nothing(tmp_path: Path, tables: str) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(tables)
    path.touch()  # as a run makes it before its tables; with a full disk it stays so
    assert read_store_summary(path) == StoreSummary()
    with Store(path) as store:
        assert len(store.warnings) == bool(tables)


def test_some_anchors_are_found_without_the_others(tmp_path: Path) -> None:
    picture = Anchor("id9", "file", ".gitbook/assets/a.png", "a.png", "", "b" * 40)
    with Store(tmp_path / "state.db") as store:
        assert store.read_lane("space") is None
        save(store, *map(anchor, range(5)), picture)
        assert store.read_lane("space") == LastSeen("r", "c", {})
        assert set(store.find_anchors("space", ["docs/page-2.md", "nowhere.md"])) == {anchor(2), picture}
        assert len(store.find_anchors("space", None)) == 6
        assert store.find_anchors("space", None, lane="another") == []
