"""The file of rendered pages: it is bounded, and nothing fails where it cannot be used."""

from pathlib import Path

import pytest

from syncd.platform.storage.kept_pages import KeptPages


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pages.db"


def test_a_page_is_found_by_any_of_its_keys_after_a_restart(file: Path) -> None:
    kept = KeptPages(file)
    kept.keep_page(b"a", "/sites/docs", b"<p>A</p>")
    kept.close()
    again = KeptPages(file)
    assert again.find_page((b"none", b"a")) == b"<p>A</p>"
    assert again.has_page((b"none", b"a"))
    assert again.find_page((b"none",)) is None
    assert file.stat().st_mode & 0o777 == 0o600
    again.close()


def test_what_was_kept_first_goes_when_there_is_no_room(file: Path) -> None:
    kept = KeptPages(file, bytes_max=2_000_000)
    for number in range(600):
        kept.keep_page(b"%d" % number, "", bytes(10_000))
    assert kept.find_page((b"0",)) is None
    assert kept.find_page((b"599",)) == bytes(10_000)
    assert file.stat().st_size < 3_000_000
    kept.close()


def test_pages_of_a_scope_that_are_there_no_more_go(file: Path) -> None:
    kept = KeptPages(file)
    for key, scope in ((b"a", "one"), (b"b", "one"), (b"c", "other")):
        kept.keep_page(key, scope, key)
    kept.forget_others("one", {b"b"})
    assert [kept.find_page((key,)) for key in (b"a", b"b", b"c")] == [None, b"b", b"c"]
    kept.close()


def test_a_damaged_file_is_begun_anew(file: Path) -> None:
    file.write_bytes(b"no database at all " * 500)
    kept = KeptPages(file)
    kept.keep_page(b"a", "", b"A")
    assert kept.find_page((b"a",)) == b"A"
    kept.close()


def test_without_a_usable_file_nothing_is_kept(tmp_path: Path) -> None:
    kept = KeptPages(tmp_path / "absent" / "pages.db")
    kept.keep_page(b"a", "", b"A")
    assert kept.find_page((b"a",)) is None
    assert kept.is_full
    kept.close()
