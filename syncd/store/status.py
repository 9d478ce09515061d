"""Read the state database for commands that only show it: they neither create nor repair it."""

import json
import os
import sqlite3
import stat
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar

from syncd.errors import StoreDenied, StoreError, StoreNewer
from syncd.store.schema import APPLICATION_ID, TABLES, VERSION

Result = TypeVar("Result")

BUSY_SECONDS = 5.0
_NO_ROOM = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL}
SITES_SINCE = 2
"""The version of the database that has the tables of sites."""
REQUESTS_SINCE = 4
"""The version of the database that has states of change requests."""
DETAILS_SINCE = 5
"""The version of the database that has the parts of outcomes."""
PAGES_SINCE = 6
"""The version of the database that has outcomes of pages by branch."""


@dataclass(frozen=True)
class FlowOutcome:
    """What the last run of one flow came to; `at` is an ISO 8601 moment.

    Shape: `detail` is all that it says, `why` and `hint` are its parts; `why` is "" where an older version recorded it.
    `command` settles it. A conflict is one between `branch` and `lane`, as people call its ref; a page that was refused
    is one of `branch`, and `lane` is the commit that it was refused at.
    """

    flow: str
    key: str
    state: str
    detail: str
    at: str
    why: str = ""
    hint: str = ""
    command: str = ""
    branch: str = ""
    lane: str = ""

    @property
    def sentence(self) -> str:
        """Return what happened, without the hint where that is known apart."""
        return self.why or self.detail


@dataclass(frozen=True)
class PendingPlan:
    """A site's plan that a person has to agree to; `document` is its JSON, moments are ISO 8601 or "" for never."""

    site: str
    digest: str
    file: str
    document: str
    at: str
    approved: str = ""
    comment: str = ""


@dataclass(frozen=True)
class Backup:
    """What a plan that ran changed, as it was before; `document` is JSON, `at` is ISO 8601."""

    site: str
    digest: str
    at: str
    document: str


SITE_STATES = ("owned", "unmanaged", "drifted", "blocked")
"""What the facts of a site count, by area."""
LATEST_FACTS = "seen"
"""The member of the facts of a site with what a person found since the run that recorded the others."""


@dataclass(frozen=True)
class SiteState:
    """A site when it was last read; `inputs` identifies the state of its file then, `facts` is JSON."""

    site: str
    inputs: str
    facts: str
    at: str


def read_site_facts(state: SiteState) -> dict[str, Any]:
    """Return how a site was when a run or a person last looked at it. Raises: ValueError when that makes no sense."""
    facts: dict[str, Any] = json.loads(state.facts)
    latest: dict[str, Any] = facts.get(LATEST_FACTS, facts)
    return latest


@dataclass(frozen=True)
class StoreSummary:
    """The last outcome of every flow, by flow and key, and the ids of all spaces that were ever mirrored.

    Shape: `pending_plans` wait for a person; `site_states` are ordered by the path of the site file. `requests` has
    facts as JSON by a space's id and a change request's number, `revisions` the one last mirrored by a space's id.
    """

    outcomes: tuple[FlowOutcome, ...] = ()
    spaces: tuple[str, ...] = ()
    pending_plans: tuple[PendingPlan, ...] = ()
    site_states: tuple[SiteState, ...] = ()
    requests: Mapping[tuple[str, int], str] = field(default_factory=dict)
    revisions: Mapping[str, str] = field(default_factory=dict)


def has_store(path: Path) -> bool:
    """Return whether there is a state database at a path. Raises: StoreDenied where that cannot be found out."""
    try:
        return path.is_file()
    except PermissionError as error:
        raise StoreDenied(f"{path} cannot be read: {error.strerror}") from error


def read_store_summary(path: Path) -> StoreSummary:
    """Return the summary of the state database at a path. Shape, Raises: as `read_database`."""
    return read_database(path, _read_summary, StoreSummary())


def read_database(path: Path, read: Callable[[sqlite3.Connection, int], Result], nothing: Result) -> Result:
    """Return what a function reads of the state database at a path, which gets its version, as of one moment.

    Shape: `nothing` for one that is absent, and for one that the next run begins anew: damaged, or without tables.
    Raises: StoreError when it exists and cannot be read.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise StoreError(f"{path} cannot be read: it is no file")
        with closing(_open_database(path)) as database:
            database.execute("BEGIN")
            owner, version = _read_header(database)
            return read(database, version) if owner == APPLICATION_ID else nothing
    except FileNotFoundError:
        return nothing
    except PermissionError as error:
        raise StoreDenied(f"{path} cannot be read: {error.strerror}") from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}") from error
    except sqlite3.OperationalError as error:
        kind = StoreError if os.access(path, os.R_OK) else StoreDenied
        raise kind(f"{path} cannot be read: {error}") from error
    except sqlite3.DatabaseError:  # damaged: the next run begins it anew, and says so
        return nothing


@dataclass(frozen=True)
class StoreSchema:
    """The version of a state database, and which tables of this syncd it has not."""

    version: int
    missing_tables: tuple[str, ...]


def read_schema(path: Path) -> StoreSchema | None:
    """Return the schema of the state database at a path; None for one that the next run begins anew.

    Raises: StoreNewer when a newer syncd wrote it; StoreError when it cannot be read.
    """
    try:
        with closing(_open_database(path)) as database:
            owner, version = _read_header(database)
            present = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.OperationalError as error:
        if not path.exists():
            return None
        raise StoreError(f"{path} cannot be read: {error}") from error
    except sqlite3.DatabaseError:
        return None
    if owner != APPLICATION_ID:
        return None
    if version > VERSION:
        raise StoreNewer(f"{path} was written by a newer syncd (schema {version})", hint="upgrade syncd")
    return StoreSchema(version, tuple(table.name for table in TABLES if table.name not in present))


def read_page_address(file: Path, space: str, path: str) -> str:
    """Return the address where people read the page at a path below a space's directory, from a state database.

    Shape: of main content when it was last mirrored; "" for what is no page, and where the database cannot say.
    """
    chosen = (
        "SELECT address FROM addresses JOIN anchors ON anchors.id = addresses.page AND anchors.space = addresses.space"
        " WHERE addresses.space = ? AND lane = 'main' AND kind = 'page' AND path = ?"
    )
    try:
        with closing(_open_database(file)) as database:
            row = database.execute(chosen, (space, path)).fetchone()
    except sqlite3.Error:
        return ""
    return str(row[0]) if row is not None else ""


def _open_database(file: Path) -> sqlite3.Connection:
    """Open a state database to read it. Raises: sqlite3.Error."""
    address = f"{file.absolute().as_uri()}?mode=ro"
    database = sqlite3.connect(address, timeout=BUSY_SECONDS, uri=True)
    try:
        database.execute("PRAGMA user_version")
    except sqlite3.OperationalError as error:
        database.close()
        # A full or read-only disk has no room for SQLite's shared memory; a file without a log says all that it knows.
        if error.sqlite_errorcode & 0xFF not in _NO_ROOM or _has_log(file):
            raise
        return sqlite3.connect(f"{address}&immutable=1", uri=True)
    except BaseException:
        database.close()
        raise
    return database


def _has_log(file: Path) -> bool:
    """Return whether a database has a write-ahead log with content that its file may lack."""
    try:
        return file.with_name(f"{file.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _read_header(database: sqlite3.Connection) -> tuple[int, int]:
    """Return which program a database is of, and its version; 0 and 0 for one that nobody has made tables in yet."""
    owner, version = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    return owner, version


def _read_summary(database: sqlite3.Connection, version: int) -> StoreSummary:
    outcomes = tuple(starmap(FlowOutcome, _read_outcomes(database, version)))
    seen = database.execute("SELECT space, revision FROM seen WHERE lane = 'main' ORDER BY space").fetchall()
    spaces = tuple(space for space, _ in seen)
    return StoreSummary(
        outcomes, spaces, *_read_sites(database, version), _read_requests(database, version), dict(seen)
    )


def _read_outcomes(database: sqlite3.Connection, version: int) -> list[tuple[str, ...]]:
    if version < DETAILS_SINCE:
        return database.execute("SELECT flow, key, state, detail, at FROM outcomes ORDER BY flow, key").fetchall()
    parts = ", ".join(f"coalesce({name}, '') AS {name}" for name in ("why", "hint", "command", "branch", "lane"))
    chosen = f"SELECT flow, key, state, detail, at, {parts} FROM outcomes LEFT JOIN details USING (flow, key)"  # noqa: S608
    if version >= PAGES_SINCE:
        chosen += " UNION ALL SELECT flow, key, state, detail, at, why, hint, command, branch, lane FROM pages"
    return database.execute(f"{chosen} ORDER BY flow, key, branch").fetchall()


def _read_requests(database: sqlite3.Connection, version: int) -> dict[tuple[str, int], str]:
    if version < REQUESTS_SINCE:
        return {}
    requests = database.execute("SELECT space, number, facts FROM requests").fetchall()
    return {(space, int(number)): facts for space, number, facts in requests}


def _read_sites(database: sqlite3.Connection, version: int) -> tuple[tuple[PendingPlan, ...], tuple[SiteState, ...]]:
    if version < SITES_SINCE:
        return (), ()
    plans = database.execute("SELECT site, digest, file, document, at, approved, comment FROM plans ORDER BY site")
    looks = database.execute("SELECT site, inputs, facts, at FROM looks ORDER BY site")
    return tuple(starmap(PendingPlan, plans.fetchall())), tuple(starmap(SiteState, looks.fetchall()))
