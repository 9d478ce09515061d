"""Changes of the tables: a new database and an upgraded one are the same, and what was in it is still there."""

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from syncd import errors
from syncd.model.blob_id import compute_blob_id
from syncd.platform import migrations
from syncd.platform.database.database import Database, open_postgresql, open_sqlite
from syncd.platform.database.tables import metadata
from syncd.platform.revisions import metadata as page_metadata
from syncd.platform.revisions.outline import open_outline
from syncd.platform.revisions.tree import encode_node
from syncd.platform.schema import accounts, site_tables
from syncd.platform.schema.content import nodes, revisions, spaces
from syncd.platform.services.directory.read import import_directory
from syncd.platform.storage.blobs import BlobFolder
from syncd.platform.storage.storage import Storage
from tests.platform.together import open_and_close, run_together
from tests.postgres import Server

FIRST = "0001"
NOW = "2026-01-31T08:15:00.250Z"
FILL = f"""
INSERT INTO schema_version (id, version) VALUES (1, 1);
INSERT INTO organizations (id, title, created_at) VALUES ('o', 'Docs', '{NOW}');
INSERT INTO users (id, display_name, created_at) VALUES ('u', 'Owner', '{NOW}');
INSERT INTO members (organization, "user", role, joined_at) VALUES ('o', 'u', 'admin', '{NOW}');
INSERT INTO spaces (id, organization, parent, title, revision, created_at, updated_at)
  VALUES ('s', 'o', 'nowhere', 'Guides', 'r', '{NOW}', '{NOW}');
INSERT INTO revisions (id, space, seq, parents, root, type, created_at)
  VALUES ('r', 's', 1, '[]', %(root)s, 'edits', '{NOW}');
INSERT INTO content_nodes (hash, own, children) VALUES (%(root)s, '["/","/","","",{{}},null,null]', %(root)s);
INSERT INTO change_requests (id, space, number, status, subject, created_by, created_at, updated_at, revision,
    revision_initial) VALUES ('c', 's', 7, 'draft', 'Words', 'u', '{NOW}', '{NOW}', 'r', 'r');
INSERT INTO sites (id, organization, type, title, basename, visibility, published, adaptive_content, agents_context,
    created_at) VALUES ('t', 'o', 'basic', 'Docs', 'docs', 'public', %(true)s, %(false)s, '', '{NOW}');
INSERT INTO site_sections (id, site, position, title, path, section_group)
  VALUES ('n', 't', 0, 'Guides', 'guides', 'nowhere');
INSERT INTO site_redirects (id, site, source, source_key, destination, created_at)
  VALUES ('d', 't', '/old', '/old', '{{"kind": "site", "site": "t"}}', '{NOW}')
"""


class Place:
    """One database that a test opens as the parts of the program do."""

    def __init__(self, data: Path, url: str | None) -> None:
        self.data, self.url = data, url

    def open(self) -> Storage:
        return Storage(self.data, database=self.url)

    def database(self) -> Database:
        return open_postgresql(self.url, patience=5) if self.url else open_sqlite(self.data / "platform.db", patience=5)

    def change(self, act: Callable[[sa.Connection], object]) -> None:
        """Do something in a transaction of the kind in which tables are changed."""
        with closing(self.database()) as database, database.schema_engine.begin() as connection:
            act(connection)

    def to(self, revision: str) -> None:
        """Make the tables as the steps up to a revision make them."""
        read = BlobFolder(self.data / "blobs").get
        self.change(lambda connection: command.upgrade(migrations.configuration(connection, read), revision))

    def as_first_made(self) -> None:
        """Make the database as the first syncd left it, with something in it."""
        self.to(FIRST)

        def fill(connection: sa.Connection) -> None:
            binary, truth = ("'\\x00ff'", ("true", "false")) if self.url else ("X'00ff'", ("1", "0"))
            values = {"root": binary, "true": truth[0], "false": truth[1]}
            for statement in (FILL % values).split(";\n"):
                connection.exec_driver_sql(statement)
            connection.exec_driver_sql("DROP TABLE alembic_version")

        self.change(fill)


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """An empty database, once of each kind."""
    server: Server | None = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    return Place(tmp_path, server.empty() if server else None)


def _differences(connection: sa.Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"include_name": migrations.belongs})
    return list(compare_metadata(context, metadata))


def _described(connection: sa.Connection) -> dict[str, object]:
    """Return all that a database tells about its tables, without the order in which they came to be."""
    present = sa.inspect(connection)
    described: dict[str, object] = {}
    if connection.dialect.name == "sqlite":
        triggers = connection.exec_driver_sql("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        described["triggers"] = sorted(triggers.scalars())
    for table in sorted(present.get_table_names()):
        described[table] = {
            "columns": sorted(repr(sorted(column.items(), key=str)) for column in present.get_columns(table)),
            "key": present.get_pk_constraint(table)["constrained_columns"],
            "foreign keys": sorted(
                repr((key["constrained_columns"], key["referred_table"], key["options"]))
                for key in present.get_foreign_keys(table)
            ),
            "indexes": sorted(repr((index["column_names"], index["unique"])) for index in present.get_indexes(table)),
            "unique": sorted(repr(each["column_names"]) for each in present.get_unique_constraints(table)),
        }
    return described


def test_the_number_in_the_code_is_that_of_the_last_step() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_heads() == [migrations.HEAD]


def test_the_steps_make_what_the_schema_modules_say(place: Place) -> None:
    place.to("head")
    place.change(lambda connection: _expect_nothing(_differences(connection)))


@pytest.mark.long
def test_a_new_database_and_an_upgraded_one_are_the_same(place: Place, tmp_path: Path, postgres_server: Server) -> None:
    place.open().close()
    other = Place(tmp_path / "other", postgres_server.empty() if place.url else None)
    other.data.mkdir()
    other.as_first_made()
    other.open().close()
    found: list[dict[str, object]] = []
    for each in (place, other):
        each.change(lambda connection: found.append(_described(connection)))
    assert found[0] == found[1]


def test_what_the_first_syncd_kept_is_read_after_the_upgrade(place: Place) -> None:
    place.as_first_made()
    with place.open() as storage, storage.read() as connection:
        space = connection.execute(sa.select(spaces)).one()
        assert (space.id, space.title, space.visibility, space.merge_rules) == (
            "s",
            "Guides",
            "private",
            {"type": "inherit"},
        )
        revision = connection.execute(sa.select(revisions)).one()
        assert (revision.parents, revision.root) == ([], b"\x00\xff")
        assert connection.scalar(sa.select(nodes.c.children)) == b"\x00\xff"
        site = connection.execute(sa.select(site_tables.sites)).one()
        assert (site.published, site.adaptive_content) == (True, False)
        assert connection.scalar(sa.select(site_tables.redirects.c.destination)) == {"kind": "site", "site": "t"}
    with place.open() as storage:
        assert storage.bootstrap() is None, "the owner is still there"


def test_the_first_syncd_refuses_what_this_one_has_touched(place: Place) -> None:
    place.as_first_made()
    with place.open() as storage, storage.read() as connection:
        assert connection.scalar(sa.select(accounts.versions.c.version)) == 2


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(place: Place) -> None:
    place.as_first_made()
    before: list[object] = []

    def look(connection: sa.Connection) -> None:
        before.append((_described(connection), connection.execute(sa.select(accounts.organizations.c.id)).all()))

    def fail_halfway(connection: sa.Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE organizations ADD COLUMN motto VARCHAR")
        connection.exec_driver_sql("DROP TABLE site_redirects")
        connection.exec_driver_sql("DELETE FROM organizations")
        raise LookupError

    place.change(look)
    with pytest.raises(LookupError):
        place.change(fail_halfway)
    place.change(look)
    assert before[0] == before[1]


def test_tables_of_another_program_are_left_alone(place: Place) -> None:
    place.change(lambda connection: connection.exec_driver_sql("CREATE TABLE users (name VARCHAR)"))
    with pytest.raises(errors.StoreError, match="cannot get its tables"):
        place.open()
    place.change(lambda connection: _expect(sa.inspect(connection).get_table_names(), ["users"]))


def test_processes_that_upgrade_at_once_do_it_once(place: Place) -> None:
    place.as_first_made()
    assert run_together(open_and_close, place.data, place.url) == ["", "", ""]
    place.change(lambda connection: _expect_nothing(_differences(connection)))


@pytest.mark.long
def test_a_start_with_nothing_to_upgrade_does_not_load_alembic(tmp_path: Path) -> None:
    script = "import sys; from pathlib import Path; from syncd.platform.storage.storage import Storage\n"
    script += "Storage(Path(sys.argv[1])).close(); print('alembic' in sys.modules, 'psycopg' in sys.modules)"
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", script, tmp_path], stdout=subprocess.PIPE, text=True, check=True)
        assert ran.stdout == "False False\n"


UNREAD = "---\nif: visitor.claims.staff\ncover: [none\n---\n\n# %s\n"
PAGES = {
    "README.md": "# Home\n",
    "unread/README.md": UNREAD % "Unread",
    "unread/below.md": "# Below\n",
    "unread/below/unclosed.md": "---\nhidden: true\n\n# Unclosed\n",
    "read.md": "---\nif: visitor.claims.staff\n---\n\n# Read\n",
    "lost.md": UNREAD % "Lost",
    "SUMMARY.md": "* [Home](README.md)\n* [Unread](unread/README.md)\n  * [Below](unread/below.md)\n"
    "    * [Unclosed](unread/below/unclosed.md)\n* [Read](read.md)\n* [Lost](lost.md)\n",
}


def test_pages_that_an_older_syncd_left_open_are_closed_in_every_revision(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = place.data / "docs"
    for name, text in PAGES.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text)
    with place.open() as storage:
        storage.bootstrap()
        with monkeypatch.context() as older:
            older.setattr(page_metadata, "is_deciding", lambda _: False)
            space = import_directory(storage, docs).space
            (docs / "README.md").write_text("# Home\n\nNewer.\n")
            assert import_directory(storage, docs, space=space).is_changed
        assert len(before := _read_conditions(storage)) == 2
        assert [one["Unread"] for one in before] == [None, None]
        lost = storage.blobs.find_file(compute_blob_id(PAGES["lost.md"].encode()))
        assert lost is not None
        lost.unlink()
    place.change(lambda connection: connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0008'"))
    closed = {"Home": None, "Unread": "false", "Below": None, "Unclosed": "false", "Lost": None}
    with place.open() as storage:
        assert _read_conditions(storage) == [closed | {"Read": "visitor.claims.staff"}] * 2


def _read_conditions(storage: Storage) -> list[dict[str, object]]:
    """The conditions of the pages of each revision by their titles, oldest first, where all hashes are right."""
    found = []
    with storage.read() as connection:
        for root in connection.scalars(sa.select(revisions.c.root).order_by(revisions.c.seq)):
            entries = open_outline(connection, root).entries.values()
            assert all(encode_node(entry.node).hash == entry.hash for entry in entries)
            pages = (entry.node for entry in entries if entry.node.type == "document")
            found.append({page.title: page.fields.get("condition") for page in pages})
    return found


def _expect_nothing(found: list[object]) -> None:
    assert found == []


def _expect(found: object, wanted: object) -> None:
    assert found == wanted
