"""Rendered pages in a file beside the database: a cache that outlives the server, and may be deleted at any time.

Whoever asks has a key that says all that a page depends on, so nothing in the file is ever wrong: it is only no longer
asked for. Where the file cannot be used, nothing is kept, and pages are rendered as if there were none.
"""

import logging
import sqlite3
import threading
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

BYTES_MAX = 256 * 1024 * 1024
"""Of the file. Beyond it the pages that were kept first go."""
_FULL = 0.9
"""Of `BYTES_MAX`, from which on nothing is rendered ahead."""
_AT_ONCE = 200
_TABLE = "CREATE TABLE IF NOT EXISTS pages (key BLOB PRIMARY KEY, scope TEXT NOT NULL, html BLOB NOT NULL)"
_INDEX = "CREATE INDEX IF NOT EXISTS pages_by_scope ON pages (scope, key)"
# A page that a power failure takes is rendered again, so that nothing waits for the disk.
_PRAGMAS = ("busy_timeout=200", "journal_mode=WAL", "synchronous=OFF")

_log = logging.getLogger(__name__)


class KeptPages:
    """Pages by key. Safe in several threads and processes.

    Shape: `scope` says where pages stand, such as a site at one address: what is there no more goes by it.
    """

    def __init__(self, file: Path, *, bytes_max: int = BYTES_MAX) -> None:
        self._file = file
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_usable = True

    def find_page(self, keys: Iterable[bytes]) -> bytes | None:
        """Return the page that is kept under the first of some keys that has one."""
        for key in keys:
            for (html,) in self._run("SELECT html FROM pages WHERE key = ?", (key,)):
                return bytes(html)
        return None

    def has_page(self, keys: Iterable[bytes]) -> bool:
        """Return whether a page is kept under one of some keys."""
        return any(self._run("SELECT 1 FROM pages WHERE key = ?", (key,)) for key in keys)

    def keep_page(self, key: bytes, scope: str, html: bytes) -> None:
        """Keep a page; those that were kept first go when there is no room."""
        self._run("INSERT OR REPLACE INTO pages VALUES (?, ?, ?)", (key, scope, html))
        while self._measure() > self._bytes_max and self._run("SELECT 1 FROM pages LIMIT 1"):
            oldest = "SELECT rowid FROM pages ORDER BY rowid LIMIT ?"
            self._run(f"DELETE FROM pages WHERE rowid IN ({oldest})", (_AT_ONCE,))  # noqa: S608  (a text of ours)

    def forget_others(self, scope: str, keys: Collection[bytes]) -> None:
        """Forget the pages of a scope that have none of these keys."""
        for (key,) in self._run("SELECT key FROM pages WHERE scope = ?", (scope,)):
            if key not in keys:
                self._run("DELETE FROM pages WHERE key = ?", (key,))

    @property
    def is_full(self) -> bool:
        """Whether there is no room for pages that nobody has asked for."""
        return not self._is_usable or self._measure() > self._bytes_max * _FULL

    def close(self) -> None:
        """Close the file; it is opened again by whoever asks later."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _measure(self) -> int:
        """The bytes of the file that are in use."""
        query = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, "
        return next((int(size) for (size,) in self._run(f"{query}pragma_page_size")), 0)

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """Run a statement by itself; without a usable file nothing is found and nothing is kept."""
        with self._lock:
            if not self._is_usable:
                return []
            try:
                if self._connection is None:
                    self._connection = self._open()
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.OperationalError as failure:
                # Another process writes, or the disk is full: the next one may have more luck.
                _log.debug("%s cannot be used now: %s", self._file.name, failure)
            except (sqlite3.DatabaseError, OSError) as failure:
                _log.warning("%s cannot be used, so no page is kept: %s", self._file.name, failure)
                self._is_usable = False
            return []

    def _open(self) -> sqlite3.Connection:
        try:
            return self._prepare()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            # It is damaged, and holds nothing that cannot be rendered again.
            for name in ("", "-wal", "-shm"):
                self._file.with_name(self._file.name + name).unlink(missing_ok=True)
            return self._prepare()

    def _prepare(self) -> sqlite3.Connection:
        # What SQLite makes beside it takes its mode from it.
        self._file.touch(mode=0o600)
        connection = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        try:
            for pragma in _PRAGMAS:
                connection.execute(f"PRAGMA {pragma}").close()
            connection.execute(_TABLE)
            connection.execute(_INDEX)
        except BaseException:
            connection.close()
            raise
        return connection
