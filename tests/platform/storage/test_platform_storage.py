"""The data directory: founded once, whoever starts first; its secrets are its owner's; writers never lose an update."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from syncd import errors
from syncd.platform.database.tables import insert_new, upsert
from syncd.platform.schema import accounts
from syncd.platform.storage.storage import Storage, hash_token
from syncd.platform.storage.times import format_time
from syncd.platform.tables_all import metadata
from tests.platform.together import bootstrap, count_to_fifty, run_together
from tests.postgres import Server


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a database without tables, None for the file in the directory."""
    if request.param == "sqlite":
        return None
    server: Server = request.getfixturevalue("postgres_server")
    return server.empty()


@pytest.fixture
def storage(tmp_path: Path, database: str | None) -> Iterator[Storage]:
    """An empty platform, once on each database."""
    with Storage(tmp_path / "platform", database=database) as opened:
        yield opened


def test_processes_that_start_at_once_found_one_platform(tmp_path: Path, database: str | None) -> None:
    answers = [line.split() for line in run_together(bootstrap, tmp_path / "data", database)]

    assert sorted(answer[0] for answer in answers) == ["found", "found", "founded"]
    assert len({tuple(answer[1:]) for answer in answers}) == 1, "one secret, one token"
    with Storage(tmp_path / "data", database=database) as storage, storage.read() as connection:
        for table in (accounts.organizations, accounts.users, accounts.members, accounts.tokens, accounts.versions):
            assert connection.scalar(sa.select(sa.func.count()).select_from(table)) == 1
    leftovers = {path.name for path in (tmp_path / "data").iterdir()}
    assert leftovers >= {"token", "secret"}
    assert ("platform.db" in leftovers) == (database is None)
    assert not [name for name in leftovers if name.startswith(".")], "no scratch file stays"


def test_writers_in_several_processes_lose_no_update(tmp_path: Path, database: str | None) -> None:
    with Storage(tmp_path, database=database) as storage:
        storage.bootstrap()
        run_together(count_to_fifty, tmp_path, database)
        with storage.read() as connection:
            assert connection.scalar(sa.select(accounts.organizations.c.details)) == {"count": 150}


def test_only_the_owner_may_read_the_directory_and_its_secrets(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Storage(data) as storage:
        storage.bootstrap()
    assert data.stat().st_mode & 0o777 == 0o700
    assert (data / "token").stat().st_mode & 0o777 == 0o600
    assert (data / "secret").stat().st_mode & 0o777 == 0o600
    assert (data / "platform.db").stat().st_mode & 0o777 == 0o600


def test_a_loosened_token_file_is_closed_again(storage: Storage) -> None:
    storage.bootstrap()
    storage.token_file.chmod(0o644)
    storage.bootstrap()
    assert storage.token_file.stat().st_mode & 0o777 == 0o600


def test_the_database_never_holds_a_token(storage: Storage) -> None:
    made = storage.bootstrap()
    assert made is not None
    assert storage.token_file.read_text().strip() == made.token
    with storage.read() as connection:
        assert connection.scalar(sa.select(accounts.tokens.c.hash)) == hash_token(made.token)
        everything = [connection.execute(sa.select(table)).all() for table in metadata.sorted_tables]
    assert made.token not in repr(everything)
    for file in storage.data.glob("platform.db*"):
        assert made.token.encode() not in file.read_bytes()


def test_a_crash_after_the_token_file_is_repaired_by_the_next_start(storage: Storage) -> None:
    # The file is written first: this is what a crash right behind it leaves.
    storage.token_file.write_text("a-token-that-was-written-before-the-crash\n")
    made = storage.bootstrap()
    assert made is not None
    assert made.token == "a-token-that-was-written-before-the-crash"


def test_a_lost_token_file_is_answered_by_a_new_token_and_the_lost_one_ends(storage: Storage) -> None:
    first = storage.bootstrap()
    assert first is not None
    storage.token_file.unlink()
    assert storage.bootstrap() is None, "nothing is founded twice"

    token = storage.token_file.read_text().strip()
    assert token != first.token
    with storage.read() as connection:
        rows = connection.execute(sa.select(accounts.tokens.c.hash, accounts.tokens.c.user)).all()
    assert [tuple(row) for row in rows] == [(hash_token(token), first.user)]


def test_a_token_file_that_holds_no_token_is_refused(storage: Storage) -> None:
    storage.token_file.write_text("short")
    with pytest.raises(errors.StoreError, match="does not hold a token"):
        storage.bootstrap()


def test_a_newer_database_is_left_alone(tmp_path: Path, database: str | None) -> None:
    with Storage(tmp_path, database=database) as storage, storage.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(errors.StoreNewer, match="9999"):
        Storage(tmp_path, database=database)


def test_what_is_no_database_or_no_directory_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(errors.StoreError, match="file"):
        Storage(tmp_path / "file")
    (tmp_path / "platform.db").write_bytes(b"no database" * 1000)
    with pytest.raises(errors.StoreError, match="not a database"):
        Storage(tmp_path)


def test_a_failed_write_leaves_nothing(storage: Storage) -> None:
    def fail_halfway() -> None:
        with storage.write() as connection:
            connection.execute(accounts.users.insert().values(id="u", display_name="U", created_at="now"))
            raise LookupError

    with pytest.raises(LookupError):
        fail_halfway()
    with storage.read() as connection:
        assert connection.execute(sa.select(accounts.users)).all() == []


def test_a_reader_sees_one_state_while_others_write(storage: Storage) -> None:
    count = sa.select(sa.func.count()).select_from(accounts.users)
    with storage.read() as reader:
        assert reader.scalar(count) == 0
        with storage.write() as connection:
            connection.execute(accounts.users.insert().values(id="u", display_name="U", created_at="now"))
        assert reader.scalar(count) == 0
    with storage.read() as reader:
        assert reader.scalar(count) == 1


def test_ids_are_twenty_letters_and_digits_and_differ(storage: Storage) -> None:
    ids = {storage.new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(made) == 20 and made.isascii() and made.isalnum() for made in ids)


def test_the_clock_is_the_one_given_and_times_are_written_as_the_api_does(tmp_path: Path) -> None:
    moment = datetime(2026, 1, 31, 8, 15, 0, 250_999, tzinfo=UTC)
    with Storage(tmp_path, clock=lambda: moment) as storage:
        assert format_time(storage.now()) == "2026-01-31T08:15:00.250Z"


def test_a_row_that_is_there_is_left_or_renewed_as_the_writer_says(storage: Storage) -> None:
    def user(id: str, name: str) -> dict[str, str]:
        return {"id": id, "display_name": name, "created_at": "now"}

    with storage.write() as connection:
        assert insert_new(connection, accounts.users, [user("a", "A"), user("b", "B")]) == 2
        assert insert_new(connection, accounts.users, [user("b", "other"), user("c", "C")]) == 1
        assert insert_new(connection, accounts.users, []) == 0
        connection.execute(accounts.users.update().where(accounts.users.c.id == "a").values(email="a@example.org"))
        upsert(connection, accounts.users, [user("a", "A again"), user("d", "D")], key=("id",))
        upsert(connection, accounts.versions, [{"id": 1, "version": 2}], key=("id",))
        rows = connection.execute(sa.select(accounts.users.c.id, accounts.users.c.display_name, accounts.users.c.email))
        assert sorted(map(tuple, rows)) == [
            ("a", "A again", "a@example.org"),
            ("b", "B", None),
            ("c", "C", None),
            ("d", "D", None),
        ]


def test_ids_and_keys_sort_byte_by_byte_on_every_database(storage: Storage) -> None:
    names = ["a", "B", "b", "É", "_", "é", "A", "10", "9", "~", "😀", "￿"]
    with storage.write() as connection:
        insert_new(connection, accounts.users, [{"id": name, "display_name": "", "created_at": ""} for name in names])
        found = connection.scalars(sa.select(accounts.users.c.id).order_by(accounts.users.c.id)).all()
    assert found == sorted(names, key=str.encode)


def test_a_document_keeps_the_order_of_its_members(storage: Storage) -> None:
    details = {"z": 1, "a": {"y": None, "b": "\0 and 😀"}}
    with storage.write() as connection:
        row = {"id": "o", "title": "", "created_at": "", "details": details}
        connection.execute(accounts.organizations.insert().values(row))
        found: dict[str, object] = connection.scalars(sa.select(accounts.organizations.c.details)).one()
    assert list(found) == ["z", "a"]
    assert found == details
