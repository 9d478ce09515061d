"""What a command reads of the state database that only shows where things stand.

It is read by the driver itself: loading SQLAlchemy takes longer than all else that `syncd status` does.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from syncd.errors import StoreError

BUSY_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """What the last run of one flow came to; `at` is an ISO 8601 moment."""

    flow: str
    key: str
    state: str
    detail: str
    at: str


@dataclass(frozen=True)
class Glance:
    """The last outcome of every flow, by flow and key, and the ids of all spaces that were ever mirrored."""

    outcomes: tuple[Outcome, ...] = ()
    spaces: tuple[str, ...] = ()


def glance(path: Path) -> Glance:
    """Given the path of a state database, return what it says; an absent or damaged one says nothing.

    Raises: StoreError.
    """
    if not path.is_file():
        return Glance()
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", timeout=BUSY_SECONDS, uri=True)
        ) as database:
            rows = database.execute("SELECT flow, key, state, detail, at FROM outcomes ORDER BY flow, key").fetchall()
            ids = database.execute("SELECT space FROM seen WHERE lane = 'main' ORDER BY space").fetchall()
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
    except sqlite3.DatabaseError:  # damaged: the next run begins it anew, and says so
        return Glance()
    return Glance(tuple(starmap(Outcome, rows)), tuple(space for (space,) in ids))
