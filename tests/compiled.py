"""SQLite as the tests use it: a statement is compiled once in a process, and not again for each database of a test.

SQLAlchemy keeps compiled statements for each engine. A test makes engines of its own, and all of them speak the same
SQL. `tests/conftest.py` registers this dialect; only processes that pytest itself runs in have it.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

_COMPILED: dict[Any, Any] = {}


class Dialect(SQLiteDialect_pysqlite):
    """SQLite's own; each of its objects is equal to each other one, as keys of what is compiled."""

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is Dialect

    def __hash__(self) -> int:
        return hash(Dialect)

    @classmethod
    def engine_created(cls, engine: sa.Engine) -> None:
        """Given a new engine, let it keep its compiled statements with those of all others."""
        engine.update_execution_options(compiled_cache=_COMPILED)
