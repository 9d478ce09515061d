"""A backup while somebody writes, one upon another, and what it refuses."""

import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa

from syncd.errors import ConfigInvalid, NotFound, StoreError
from syncd.platform.schema import accounts
from syncd.platform.storage.backup import back_up_platform
from syncd.platform.storage.storage import Storage
from tests.storages import new_storage


@pytest.fixture
def data(tmp_path: Path) -> Path:
    with new_storage(tmp_path / "data") as storage:
        storage.bootstrap()
        storage.blobs.put_all([b"one", b"two"])
    return tmp_path / "data"


def read_titles(data: Path) -> list[str]:
    with Storage(data) as storage, storage.read() as connection:
        return list(connection.scalars(sa.select(accounts.organizations.c.title)))


def test_what_is_not_committed_is_not_in_it_and_all_else_is(data: Path, tmp_path: Path) -> None:
    with Storage(data) as storage, storage.write() as connection:
        connection.execute(accounts.organizations.update().values(title="Not yet"))
        done = back_up_platform(data, None, tmp_path / "backup")
    assert (done.copied, done.kept, done.damaged) == (2, 0, ())
    assert read_titles(data) == ["Not yet"]
    assert read_titles(tmp_path / "backup") == ["My organization"]
    for name in ("token", "secret"):
        assert (tmp_path / "backup" / name).read_bytes() == (data / name).read_bytes()
        assert (tmp_path / "backup" / name).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700


def test_a_second_one_copies_what_is_new_and_replaces_the_database(data: Path, tmp_path: Path) -> None:
    back_up_platform(data, None, tmp_path / "backup")
    with Storage(data) as storage:
        oid = storage.blobs.put(b"three")
        with storage.write() as connection:
            connection.execute(accounts.organizations.update().values(title="Later"))
    assert back_up_platform(data, None, tmp_path / "backup").copied == 1
    assert read_titles(tmp_path / "backup") == ["Later"]
    with Storage(tmp_path / "backup") as storage:
        assert storage.blobs.get(oid) == b"three"


def test_a_former_backup_stays_whole_when_a_later_one_fails(data: Path, tmp_path: Path) -> None:
    back_up_platform(data, None, tmp_path / "backup")
    with Storage(data) as storage:
        oid = storage.blobs.put(b"three")
        with storage.write() as connection:
            connection.execute(accounts.organizations.update().values(title="Later"))
    shard = tmp_path / "backup" / "blobs" / oid[:2]
    assert not shard.exists()
    shard.write_text("in the way")
    with pytest.raises(StoreError):
        back_up_platform(data, None, tmp_path / "backup")
    shard.unlink()
    shutil.copytree(tmp_path / "backup", tmp_path / "restored")
    assert read_titles(tmp_path / "restored") == ["My organization"]
    assert back_up_platform(data, None, tmp_path / "backup").copied == 1
    assert read_titles(tmp_path / "backup") == ["Later"]


def test_a_damaged_blob_is_named_and_its_earlier_copy_stays(data: Path, tmp_path: Path) -> None:
    back_up_platform(data, None, tmp_path / "backup")
    with Storage(data) as storage:
        damaged, lost = storage.blobs.put(b"one"), storage.blobs.put(b"three")
        for oid in (damaged, lost):
            found = storage.blobs.find_file(oid)
            assert found is not None
            found.write_bytes(b"rot")
    done = back_up_platform(data, None, tmp_path / "backup")
    assert done.damaged == (lost,)
    with Storage(tmp_path / "backup") as storage:
        assert storage.blobs.get(damaged) == b"one"
        assert not storage.blobs.has(lost)


def test_a_damaged_database_is_no_backup(data: Path, tmp_path: Path) -> None:
    (data / "platform.db").write_bytes(b"SQLite format 3\0" + b"rot" * 5000)
    with pytest.raises(StoreError):
        back_up_platform(data, None, tmp_path / "backup")
    assert not (tmp_path / "backup" / "platform.db").exists()


def test_what_is_no_backup_is_not_written_into(data: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").touch()
    back_up_platform(data, None, tmp_path / "used")
    read_titles(tmp_path / "used")  # which leaves a log beside the database
    for target in (tmp_path / "used", tmp_path / "other", tmp_path / "other" / "letter.txt", data, data / "backup"):
        with pytest.raises(ConfigInvalid):
            back_up_platform(data, None, target)
    with pytest.raises(NotFound):
        back_up_platform(tmp_path / "nowhere", None, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
