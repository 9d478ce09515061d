"""What several processes do to one platform at once; each is forked, so that all of them begin at once."""

import warnings
from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from syncd.platform.schema import accounts
from syncd.platform.server import serve
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.storage_options import StorageOptions
from tests.forked import Forked

PATIENT = 60.0
Act = Callable[[Path, str | None], int]


def run_together(act: Act, data: Path, database: str | None, *, processes: int = 3) -> list[str]:
    """Given what processes do to a platform, let so many do it, and return what each has printed. No warning passes."""
    started = [Forked(_strictly, act, data, database, pipes=["stdout", "stderr"]) for _ in range(processes)]
    answers = []
    for process in started:
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            answers.append(process.stdout.read().strip())
            assert (process.stderr.read(), process.wait(PATIENT)) == ("", 0)
    return answers


def start_serving(data: Path) -> Forked:
    """Serve a platform in a process that prints its address, and a line when it has ended."""
    return Forked(_strictly, _serve, data, None, pipes=["stdout", "stderr"])


def bootstrap(data: Path, database: str | None) -> int:
    """Found a platform, or find it, and print what is its own."""
    with Storage(data, database=database) as storage:
        founded = storage.bootstrap()
        print(
            "founded" if founded else "found", storage.secret.hex(), storage.token_file.read_text().strip(), flush=True
        )
    return 0


def count_to_fifty(data: Path, database: str | None) -> int:
    """Add one to a number in the database, fifty times."""
    with Storage(data, database=database) as storage:
        for _ in range(50):
            with storage.write() as connection:
                row = connection.execute(sa.select(accounts.organizations)).one()
                counted = row.details.get("count", 0) + 1
                connection.execute(accounts.organizations.update().values(details={"count": counted}))
    return 0


def open_and_close(data: Path, database: str | None) -> int:
    """Bring the tables up to date."""
    Storage(data, database=database).close()
    return 0


def _serve(data: Path, database: str | None) -> int:
    serve(StorageOptions(data), host="127.0.0.1", port=0, announce=lambda url: print(url, flush=True))
    print("ended", flush=True)
    return 0


def _strictly(act: Act, data: Path, database: str | None) -> int:
    warnings.simplefilter("error")
    return act(data, database)
