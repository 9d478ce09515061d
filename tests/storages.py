"""New platforms for tests: a database gets its tables as a copy of one that was made once."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from syncd.platform.storage.blobs import Blobs
from syncd.platform.storage.storage import Storage


def new_storage(
    data: Path, *, blobs: Blobs | None = None, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> Storage:
    """Given a directory that holds no platform, return a new one there, with its tables in SQLite.

    Raises: FileExistsError.
    """
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (data / "platform.db").open("xb") as database:
        database.write(_tables())
    return Storage(data, blobs=blobs, clock=clock)


@cache
def _tables() -> bytes:
    with TemporaryDirectory() as data:
        Storage(Path(data)).close()
        return Path(data, "platform.db").read_bytes()
