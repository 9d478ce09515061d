"""PostgreSQL behind the platform: one writer in all processes, and a server that may be slow, restarted or gone."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
import sqlalchemy as sa

from syncd import errors
from syncd.platform.database import database
from syncd.platform.database.tables import metadata
from syncd.platform.schema import accounts
from syncd.platform.server import BackgroundServer
from syncd.platform.storage.storage import Storage
from tests.postgres import Process

pytestmark = pytest.mark.long

Fresh = Callable[[], str]


@contextmanager
def served(data: Path, url: str, *, patience: float = 5) -> Iterator[tuple[Storage, httpx.Client]]:
    """A platform on a database, and a client of its owner."""
    with Storage(data, database=url, patience=patience) as storage:
        storage.bootstrap()
        headers = {"Authorization": f"Bearer {storage.token_file.read_text().strip()}"}
        with (
            BackgroundServer(storage, works=False) as base,
            httpx.Client(base_url=f"{base}/v1", headers=headers, trust_env=False, timeout=30) as http,
        ):
            yield storage, http


def new_space(http: httpx.Client, title: str = "Guides") -> httpx.Response:
    organization = http.get("/orgs").json()["items"][0]["id"]
    return http.post(f"/orgs/{organization}/spaces", json={"title": title})


def test_every_text_is_compared_byte_by_byte(postgres_url: Fresh) -> None:
    with psycopg.connect(postgres_url()) as connection:
        found = connection.execute(
            "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'"
            " AND data_type = 'character varying' AND collation_name IS DISTINCT FROM 'C'"
        ).fetchall()
    assert [name for (name,) in found if name != "alembic_version.version_num"] == []


def test_machines_on_one_database_share_the_secret_and_not_the_owners_token(
    tmp_path: Path, postgres_url: Fresh
) -> None:
    url = postgres_url()
    with served(tmp_path / "one", url) as (one, http), served(tmp_path / "two", url) as (two, other):
        assert one.secret == two.secret
        assert one.token_file.read_text() != two.token_file.read_text()
        assert http.get("/user").json()["id"] == other.get("/user").json()["id"]
        with one.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(accounts.users)) == 1
    with Storage(tmp_path / "one", database=url) as again:
        assert again.bootstrap() is None
        with again.read() as connection:
            assert connection.scalar(sa.select(sa.func.count()).select_from(accounts.tokens)) == 2


def test_a_writer_that_waits_too_long_is_told_to_come_back_and_readers_never_wait(
    tmp_path: Path, postgres_url: Fresh
) -> None:
    url = postgres_url()
    with served(tmp_path / "one", url, patience=0.1) as (_, http), Storage(tmp_path / "two", database=url) as other:
        with other.write():
            assert new_space(http).status_code == 503
            assert http.get("/orgs").status_code == 200
        assert new_space(http).status_code == 201


def test_a_process_that_stops_in_a_transaction_does_not_stop_the_others(
    tmp_path: Path, postgres_url: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = postgres_url()
    with monkeypatch.context() as patch:
        patch.setattr(database, "_IDLE_S", 0.2)
        stopped = Storage(tmp_path / "one", database=url)
    with served(tmp_path / "two", url, patience=5) as (_, http), stopped:

        def stop() -> None:
            with stopped.write() as connection:
                connection.execute(accounts.users.insert().values(id="u", display_name="U", created_at=""))
                held.set()
                time.sleep(0.5)

        held = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            stopping = pool.submit(stop)
            assert held.wait(5)
            assert new_space(http).status_code == 201
            with pytest.raises(sa.exc.DBAPIError) as ended:
                stopping.result()
            assert ended.value.connection_invalidated


def test_a_restart_of_the_server_costs_no_request(tmp_path: Path, postgres_process: Callable[..., Process]) -> None:
    process = postgres_process()
    with served(tmp_path, process.url) as (_, http):
        assert new_space(http, "before").status_code == 201
        process.restart()
        assert http.get("/orgs").status_code == 200
        assert new_space(http, "after").status_code == 201

        process.halt()
        started = time.monotonic()
        assert http.get("/orgs").status_code == 503
        assert time.monotonic() - started < 10
        process.start()
        assert new_space(http, "back").status_code == 201


def test_a_server_that_says_nothing_holds_up_only_those_who_ask_it(
    tmp_path: Path, postgres_url: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_STATEMENT_S", 1)
    monkeypatch.setattr(database, "_SILENCE_S", 0.2)
    with served(tmp_path, postgres_url()) as (storage, http):
        space = new_space(http).json()["id"]
        # An idle connection each for what the two requests below need, whose servers are then stopped.
        with storage.read() as connection, storage.read() as another:
            pids = [each.scalar(sa.text("SELECT pg_backend_pid()")) for each in (connection, another)]
        for pid in pids:
            os.kill(int(pid or 0), signal.SIGSTOP)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(http.get, f"/spaces/{space}")
            started = time.monotonic()
            while not asked.done():
                assert httpx.get(http.base_url.join("/v1/user"), trust_env=False, timeout=30).status_code == 401
                time.sleep(0.02)
            assert 0.5 < time.monotonic() - started < 10
            assert asked.result().status_code == 200, "a new connection took the place of the silent one"
        for pid in pids:
            os.kill(int(pid or 0), signal.SIGCONT)


def test_a_text_that_it_cannot_keep_is_refused(tmp_path: Path, postgres_url: Fresh) -> None:
    with served(tmp_path, postgres_url()) as (_, http):
        assert new_space(http, "a\0b").status_code == 400
        assert http.get("/spaces/a%00b").status_code in (400, 404)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://owner:secret@127.0.0.1:1/docs",
        "postgresql://owner:sec/ret@127.0.0.1:1/docs",
        "postgresql://owner:pass@secret@127.0.0.1:1/docs",
        "postgresql://owner:p@ss/secret@127.0.0.1:1/docs",
        "postgresql://127.0.0.1:1/docs?user=owner&password=secret",
        "postgresql://owner:secret@127.0.0.1:port/docs",
        "postgresql://owner:secret@127.0.0.1:1",
        "mysql://owner:secret@127.0.0.1/docs",
        "secret",
    ],
)
def test_no_error_tells_the_password(tmp_path: Path, url: str) -> None:
    with pytest.raises(errors.SyncdError) as refused:
        Storage(tmp_path, database=url)
    told = f"{refused.value.what} {refused.value.hint}"
    assert "sec" not in told.replace("seconds", "")
    assert "ss@" not in told


def test_every_table_of_the_catalogue_is_there(postgres_url: Fresh) -> None:
    engine = sa.create_engine(postgres_url().replace("postgresql:", "postgresql+psycopg:"))
    assert set(metadata.tables) <= set(sa.inspect(engine).get_table_names())
    engine.dispose()
