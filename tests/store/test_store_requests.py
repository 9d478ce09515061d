"""What a run saw of change requests and pages is kept, and read back without the libraries of the store."""

import sqlite3
from contextlib import closing
from pathlib import Path

from syncd.model.anchor import Anchor
from syncd.store.status import read_page_address, read_store_summary
from syncd.store.store import Store


def test_the_state_of_a_change_request_is_kept_until_it_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    with Store(file) as store:
        store.record_request("docs", 12, '{"status": "open"}')
        store.record_request("docs", 12, '{"status": "draft"}')
        assert store.read_request("docs", 12) == '{"status": "draft"}'
        assert store.read_request("docs", 13) == ""
    assert read_store_summary(file).requests == {("docs", 12): '{"status": "draft"}'}
    with Store(file) as store:
        store.forget_request("docs", 12)
    assert read_store_summary(file).requests == {}


def test_the_address_of_a_page_is_found_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    use = Anchor("p1", "page", "guide/use.md", "", "", "")
    with Store(file) as store:
        store.save_last_seen("docs", "main", revision="r1", commit="c1", put=[use], removed=[])
        store.record_addresses("docs", {"p1": "https://app/use", "p2": "https://app/gone"})
        store.record_addresses("docs", {"p1": "https://app/guide/use"})
    assert read_page_address(file, "docs", "guide/use.md") == "https://app/guide/use"
    assert read_page_address(file, "docs", "guide/gone.md") == ""
    assert read_page_address(file, "other", "guide/use.md") == ""
    assert read_page_address(tmp_path / "absent.db", "docs", "guide/use.md") == ""


def test_a_database_of_the_version_before_has_neither_and_gets_both(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    Store(file).close()
    with closing(sqlite3.connect(file)) as old:
        old.executescript("DROP TABLE requests; DROP TABLE addresses; PRAGMA user_version = 3")
    assert read_store_summary(file).requests == {}
    assert read_page_address(file, "docs", "use.md") == ""
    with Store(file) as store:
        store.record_request("docs", 1, "{}")
    assert read_store_summary(file).requests == {("docs", 1): "{}"}
