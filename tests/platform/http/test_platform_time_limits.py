"""How long one request may compute."""

from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
import sqlalchemy as sa

from syncd.platform.http.failures import Failure
from syncd.platform.http.time_limits import check_time, extend_time, limit_time, note_written
from syncd.platform.schema.search import indexed, pages
from syncd.platform.services.directory.read import import_directory
from syncd.platform.services.search import index
from syncd.platform.storage.storage import Storage


def request(work: Callable[[], object], *, seconds: float) -> None:
    """Do work as that of one request, with so many seconds of computing."""

    async def handled() -> None:
        with limit_time(seconds):
            await anyio.to_thread.run_sync(work)

    anyio.run(handled)


def compute() -> None:
    for _ in range(1_000_000):
        check_time()


def test_a_request_that_computes_too_long_ends() -> None:
    with pytest.raises(Failure) as refusal:
        request(compute, seconds=0.01)
    assert refusal.value.status == 503


def test_what_was_written_is_answered() -> None:
    def write() -> None:
        note_written()
        compute()

    request(write, seconds=0.01)


def test_what_is_made_for_all_later_requests_has_the_time_of_a_write() -> None:
    def make() -> None:
        extend_time()
        compute()

    request(make, seconds=0.01)


def test_a_job_takes_the_time_that_it_takes() -> None:
    check_time()


def test_every_statement_and_every_blob_asks(storage: Storage) -> None:
    storage.bootstrap()
    oid = storage.blobs.put(b"text")

    def statements() -> None:
        for _ in range(1_000_000):
            with storage.read() as connection:
                connection.execute(sa.select(1))

    def blobs() -> None:
        for _ in range(1_000_000):
            storage.blobs.get(oid)

    for work in (statements, blobs):
        with pytest.raises(Failure):
            request(work, seconds=0.01)


@pytest.mark.long
def test_who_searches_again_finds_what_was_indexed_so_far(storage: Storage, tmp_path: Path) -> None:
    storage.bootstrap()
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(24):
        words = " ".join(f"w{number}x{word}" for word in range(25_000))
        (docs / f"page-{number}.md").write_text(f"# Page {number}\n\n{words}\n")
    space = import_directory(storage, docs).space

    def count(table: sa.Table) -> int:
        with storage.read() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()

    counts = [0]
    while not count(indexed):
        try:
            request(lambda: index.refresh_index(storage, [space]), seconds=0.4)
        except Failure:
            counts.append(count(pages))
            assert counts[-1] > counts[-2]
    assert len(counts) > 1
