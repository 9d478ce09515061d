"""The steps that a database in a file would take with this syncd, found without taking them."""

import sqlite3
from contextlib import closing
from pathlib import Path

from syncd.errors import StoreError, StoreNewer
from syncd.platform.migrations import HEAD

_FIRST = "0001"


def list_steps(file: Path) -> tuple[str, ...]:
    """Return the first line of each step that the tables of a database need, in order; () when they are current.

    Raises: StoreNewer when a newer syncd changed them; StoreError when they cannot be read.
    """
    found = _read_revision(file)
    if found == HEAD:
        return ()
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    if found not in {script.revision for script in scripts.walk_revisions()}:
        hint = "install that version, or put the backup of before in its place"
        raise StoreNewer(f"{file} was written by a newer syncd (schema {found})", hint=hint)
    steps = [script.doc.rstrip(".") for script in scripts.iterate_revisions(HEAD, found) if script.revision != found]
    return tuple(reversed(steps))


def _read_revision(file: Path) -> str:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if "alembic_version" in tables:
                return str(database.execute("SELECT version_num FROM alembic_version").fetchone()[0])
    except (sqlite3.Error, TypeError) as error:
        raise StoreError(f"{file} cannot be read: {error}") from error
    if "schema_version" in tables:  # made before steps were counted
        return _FIRST
    raise StoreError(f"{file} is no database of a platform", hint="name the directory of one with --data")
