"""The tables of a database, brought to what this syncd knows: made at once when it is new, else changed step by step.

The steps are Alembic's, in `versions`; Alembic itself is loaded only when there is a step to take. A new database gets
its tables from the catalogue, which says the same as all the steps together: a test compares the two.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from syncd.errors import StoreError, StoreNewer
from syncd.platform.database.database import Database
from syncd.platform.database.tables import upsert
from syncd.platform.schema import accounts
from syncd.platform.tables_all import metadata

__all__ = ["HEAD", "ReadBlob", "belongs", "configuration", "prepare"]

HEAD = "0009"
"""The last revision in `versions`; a database that is there needs nothing."""
ReadBlob = Callable[[str], bytes | None]
"""Returns a blob by its id, None when it is lost or damaged."""

_FIRST = "0001"
_COUNTED = 2
"""What `schema_version` says since Alembic counts: the first syncd, which reads only that, refuses such a database."""

_version = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def prepare(database: Database, read_blob: ReadBlob) -> None:
    """Create the tables of a new database, or upgrade those of an older syncd, in one transaction.

    Any number of processes may do so at once. Raises: StoreNewer, StoreError when the tables are another program's.
    """
    with database.lock():
        if _is_current(database.reader):
            return
        with database.schema_engine.begin() as connection:
            found = _find_revision(connection)
            if found is None:
                _create_tables(connection, database.name)
            elif found != HEAD:
                _upgrade(connection, found, database.name, read_blob)
        database.schema_engine.dispose()


def configuration(connection: sa.Connection, read_blob: ReadBlob) -> Any:
    """Return the configuration with which Alembic's commands act on a connection that is in a transaction."""
    from alembic.config import Config

    config = Config(attributes={"connection": connection, "read_blob": read_blob})
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def belongs(name: str | None, kind: str, parents: object) -> bool:
    """Return whether Alembic should compare something that a database has with the catalogue of tables.

    It is Alembic's `include_name`. The words of the search index are in tables that each kind of database has in a form
    of its own, so those are left out.
    """
    return kind != "table" or not (name or "").startswith("search_words")


def _is_current(reader: sa.Engine) -> bool:
    absent = sa.exc.OperationalError if reader.dialect.name == "sqlite" else sa.exc.ProgrammingError
    try:
        with reader.begin() as connection:
            return connection.scalar(sa.select(_version.c.version_num)) == HEAD
    except absent:
        return False


def _find_revision(connection: sa.Connection) -> str | None:
    present = sa.inspect(connection)
    if present.has_table(_version.name):
        return connection.scalar(sa.select(_version.c.version_num))
    if present.has_table(accounts.versions.name):
        return _adopt_uncounted(connection)
    return None


def _adopt_uncounted(connection: sa.Connection) -> str:
    """Return where a database stands that was made before Alembic counted."""
    _version.create(connection)
    _record_revision(connection, _FIRST)
    return _FIRST


def _create_tables(connection: sa.Connection, name: str) -> None:
    try:
        # Not only what is missing: a table of the same name would be another program's.
        metadata.create_all(connection, checkfirst=False)
    except (sa.exc.ProgrammingError, sa.exc.OperationalError) as failure:
        what = str(failure.orig).partition("\n")[0]
        raise StoreError(f"{name} cannot get its tables: {what}", hint="give syncd a database of its own") from failure
    _version.create(connection)
    _record_revision(connection, HEAD)


def _record_revision(connection: sa.Connection, revision: str) -> None:
    connection.execute(_version.insert().values(version_num=revision))
    upsert(connection, accounts.versions, [{"id": 1, "version": _COUNTED}], key=("id",))


def _upgrade(connection: sa.Connection, found: str, name: str, read_blob: ReadBlob) -> None:
    from alembic import command
    from alembic.script import ScriptDirectory

    config = configuration(connection, read_blob)
    if found not in {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}:
        raise StoreNewer(f"{name} was written by a newer syncd (schema {found})", hint="upgrade syncd")
    command.upgrade(config, "head")
    if connection.dialect.name == "sqlite":
        # Foreign keys are not checked while tables are made anew under their old names.
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise StoreError(f"{name} has rows of {broken[0]} that belong to none of {broken[2]}")
