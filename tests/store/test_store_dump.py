"""The state database as texts: the same rows give the same, and they come back elsewhere."""

from pathlib import Path

import pytest

from syncd.errors import StoreError, StoreNewer
from syncd.model.anchor import Anchor
from syncd.store.dump import Dump
from syncd.store.schema import VERSION
from syncd.store.store import Store


def test_rows_come_back_elsewhere(tmp_path: Path) -> None:
    anchor = Anchor("page-1", "page", "ä\u2028.md", "form", "print", "0" * 40)
    with Store(tmp_path / "a.db") as store, Dump(tmp_path / "a.db") as dump:
        before = dump.read_change()
        store.save_last_seen("space", "main", revision="r", commit="c", put=[anchor], removed=())
        assert dump.read_change() != before
        tables = dump.read_tables()
        store.record([], whole=True)
        assert dump.read_tables() == tables, "what a run came to is not in it"
    with Dump(tmp_path / "b.db") as dump:
        dump.write_tables(tables)
        assert dump.read_tables() == tables
    with Store(tmp_path / "b.db") as store:
        found = store.read_last_seen("space")
        assert found is not None
        assert found.anchors == {"page-1": anchor}


def test_an_older_dump_is_read_and_a_newer_one_is_not(tmp_path: Path) -> None:
    with Dump(tmp_path / "a.db") as dump:
        dump.write_tables({"version": b"1\n"})
        with pytest.raises(StoreNewer):
            dump.write_tables({"version": str(VERSION + 1).encode()})


@pytest.mark.parametrize("rows", [b"no JSON\n", b'["too", "few"]\n', b'{"no": "list"}\n', b"\xff\n"])
def test_what_is_no_dump_is_refused(tmp_path: Path, rows: bytes) -> None:
    with Dump(tmp_path / "a.db") as dump, pytest.raises(StoreError):
        dump.write_tables({"version": b"1", "seen": rows})
    with Dump(tmp_path / "a.db") as dump, pytest.raises(StoreError):
        dump.write_tables({})
