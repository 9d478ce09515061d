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


def test_a_row_that_changes_changes_one_part_of_a_large_table(tmp_path: Path) -> None:
    anchors = [Anchor(f"page-{number}", "page", f"{number}.md", "form", "print", "0" * 40) for number in range(1000)]
    with Store(tmp_path / "a.db") as store, Dump(tmp_path / "a.db") as dump:
        store.save_last_seen("space", "main", revision="r", commit="c", put=anchors, removed=())
        before = dump.read_tables()
        parts = {name: text.count(b"\n") for name, text in before.items() if name.startswith("anchors/")}
        assert sum(parts.values()) == 1000
        assert max(parts.values()) < 200
        changed = Anchor("page-7", "page", "renamed.md", "form", "print", "0" * 40)
        store.save_last_seen("space", "main", revision="r", commit="c", put=[changed], removed=())
        after = dump.read_tables()
        (part,) = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
        assert b"renamed.md" in after[part]
    with Dump(tmp_path / "b.db") as dump:
        dump.write_tables(after)
        assert dump.read_tables() == after


def test_an_older_dump_is_read_and_a_newer_one_is_not(tmp_path: Path) -> None:
    with Dump(tmp_path / "a.db") as dump:
        dump.write_tables({"version": b"1\n"})
        row = b'["space", "main", "r", "c", ""]\n'
        dump.write_tables({"version": str(VERSION).encode(), "seen": row})
        assert dump.read_tables()["seen"] == row
        for newer in (VERSION + 1, 1000 + VERSION + 1):
            with pytest.raises(StoreNewer):
                dump.write_tables({"version": str(newer).encode()})


@pytest.mark.parametrize("rows", [b"no JSON\n", b'["too", "few"]\n', b'{"no": "list"}\n', b"\xff\n"])
def test_what_is_no_dump_is_refused(tmp_path: Path, rows: bytes) -> None:
    with Dump(tmp_path / "a.db") as dump, pytest.raises(StoreError):
        dump.write_tables({"version": b"1", "seen": rows})
    with Dump(tmp_path / "a.db") as dump, pytest.raises(StoreError):
        dump.write_tables({})
