"""`syncd upgrade --check`: what the installed syncd would change of what is on disk; looking changes nothing."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic import command

from syncd.cli.app import run
from syncd.platform import migrations
from syncd.platform.database.database import open_sqlite
from syncd.platform.migrations import pending
from syncd.platform.storage.blobs import BlobFolder
from syncd.store.schema import APPLICATION_ID, VERSION
from tests.cli.command_runner import CommandRunner, make_runner

HEAD = "version: 1\nsite: { org: org_acme, id: site_acme }\n"


@pytest.fixture
def upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    for name in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    return make_runner("upgrade --check", tmp_path, monkeypatch, capsys)


def change_state(docs: Path, *statements: str) -> Path:
    file = docs / ".git" / "syncd" / "state.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return file


def look(shell: Any, docs: Path, *words: object) -> tuple[int, dict[str, dict[str, Any]]]:
    """Return the exit code, and each finding by the name of its file, or its subject."""
    done = shell.syncd("upgrade", "--check", "--json", *words, cwd=docs)
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.returncode
    return done.returncode, {Path(one["subject"]).name: one for one in document["findings"]}


def read_all(docs: Path) -> dict[str, bytes]:
    """Return every file; what SQLite puts beside a database while it is read counts for none."""
    files = [path for path in docs.rglob("*") if path.is_file() and not path.name.startswith("state.db-")]
    return {str(path): path.read_bytes() for path in files}


def test_what_this_version_wrote_needs_nothing(shell: Any) -> None:
    docs = shell.clone()
    code, found = look(shell, docs)
    assert code == 0
    assert {one["state"] for one in found.values()} == {"ok"}
    assert f"has schema {VERSION} already" in found["state.db"]["detail"]
    assert "changes nothing here" in shell.fine("upgrade", "--check", cwd=docs)


def test_an_older_state_database_is_told_with_its_tables_and_the_next_run_does_it(shell: Any) -> None:
    docs = shell.clone()
    change_state(docs, "DROP TABLE details", "PRAGMA user_version = 4")
    before = read_all(docs)
    code, found = look(shell, docs)
    assert (code, found["state.db"]["state"]) == (2, "change")
    assert f"schema 4 to {VERSION}, with details" in found["state.db"]["detail"]
    assert "1 change to make; nothing was changed" in shell.syncd("upgrade", "--check", cwd=docs).stdout
    assert read_all(docs) == before
    shell.fine("pull", cwd=docs)
    assert look(shell, docs)[0] == 0


@pytest.mark.parametrize(
    ("statement", "code", "words"),
    [
        (f"PRAGMA user_version = {VERSION + 1}", 78, "written by a newer syncd"),
        (f"PRAGMA application_id = {APPLICATION_ID + 1}", 0, "makes it anew"),
    ],
)
def test_a_state_database_of_another_is_told(shell: Any, statement: str, code: int, words: str) -> None:
    docs = shell.clone()
    file = change_state(docs, statement)
    found = look(shell, docs)
    assert found[0] == code
    assert any(words in one["detail"] for one in found[1].values())
    file.write_bytes(b"not a database" * 400)
    code, findings = look(shell, docs)
    assert (code, "makes it anew" in findings["state.db"]["detail"]) == (0, True)


def test_older_forms_and_refused_keys_of_the_configuration_have_their_place(shell: Any) -> None:
    docs = shell.clone()
    config = docs / ".git" / "syncd.toml"
    (docs / "site.yaml").write_text(f"{HEAD}policy: {{ prune: owned }}\n")
    config.write_text(config.read_text() + '[repository.site]\nfile = "site.yaml"\n')
    code, found = look(shell, docs)
    (old,) = [one for one in found.values() if one["state"] == "change"]
    assert code == 2
    assert old["subject"].endswith("site.yaml:3:18")
    assert "syncd site migrate" in old["hint"]
    config.write_text(config.read_text() + "no_such_key = 1\n")
    code, found = look(shell, docs)
    assert code == 78
    (refused,) = [one for one in found.values() if one["state"] == "fail"]
    assert "no_such_key" in refused["subject"] + refused["detail"]


def test_units_are_compared_with_what_this_version_writes(
    upgrade: CommandRunner, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = tmp_path / "image"
    assert upgrade("--root", str(image)).code == 0
    assert run(["service", "install", "--root", str(image)]) == 0
    capsys.readouterr()
    done = upgrade("--root", str(image))
    assert (done.code, done.out.count("is what this version writes")) == (0, 3)
    unit = image / "etc/systemd/system/syncd.service"
    written = unit.read_text()
    unit.write_text(written + "# mine\n")
    done = upgrade("--root", str(image))
    assert (done.code, "is not as syncd service install wrote it" in done.out) == (2, True)
    assert "drop-in" in done.out
    unit.unlink()
    (image / "etc/systemd/system/syncd@.service").write_text("[Service]\n")
    done = upgrade("--root", str(image))
    assert (done.code, "is missing; syncd service install writes it" in done.out) == (2, True)
    assert "syncd example syncd@.service" in done.out
    assert not unit.exists()


def test_a_unit_of_another_installation_differs_only_once_its_program_is_gone(
    upgrade: CommandRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    image, program = tmp_path / "image", tmp_path / "other" / "syncd"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with monkeypatch.context() as other:
        other.setattr("sys.argv", [str(program)])
        assert run(["service", "install", "--root", str(image)]) == 0
    capsys.readouterr()
    done = upgrade("--root", str(image))
    assert (done.code, f"where it is installed as {program}" in done.out) == (0, True)
    program.unlink()
    done = upgrade("--root", str(image))
    assert (done.code, "is of another version; syncd service install renews it" in done.out) == (2, True)
    assert run(["service", "install", "--root", str(image)]) == 0
    capsys.readouterr()
    assert upgrade("--root", str(image)).code == 0


def test_the_steps_of_an_older_platform_are_named_and_none_is_taken(upgrade: CommandRunner, tmp_path: Path) -> None:
    data = tmp_path / "syncd-platform"
    data.mkdir()
    with closing(open_sqlite(data / "platform.db", patience=5)) as old, old.schema_engine.begin() as connection:
        command.upgrade(migrations.configuration(connection, BlobFolder(data).get), "0003")
    done = upgrade()
    assert done.code == 2
    assert "all or none" in done.out
    steps = pending.list_steps(data / "platform.db")
    assert len(steps) == int(migrations.HEAD) - 3
    assert all(step in done.out for step in steps)
    with closing(open_sqlite(data / "platform.db", patience=5)) as database:
        migrations.prepare(database, BlobFolder(data).get)
    assert upgrade("--data", str(data)).code == 0
    with closing(sqlite3.connect(data / "platform.db")) as raw, raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
    done = upgrade()
    assert (done.code, "written by a newer syncd (schema 9999)" in done.out) == (78, True)
    assert upgrade("--data", str(tmp_path / "nothing")).code == 78


def test_a_database_that_is_no_platform_is_refused(upgrade: CommandRunner, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "platform.db")) as raw, raw:
        raw.execute("CREATE TABLE mine (a)")
    done = upgrade("--data", str(tmp_path))
    assert (done.code, "is no database of a platform" in done.out) == (1, True)
    (tmp_path / "platform.db").write_bytes(os.urandom(8192))
    done = upgrade("--data", str(tmp_path))
    assert (done.code, "cannot be read" in done.out) == (1, True)


def test_without_check_nothing_is_said_to_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = make_runner("upgrade", tmp_path, monkeypatch, capsys)()
    assert (done.code, "syncd upgrade --check" in done.err) == (64, True)


def test_a_directory_that_cannot_be_looked_into_is_no_crash(upgrade: CommandRunner) -> None:
    said = upgrade("--data", "x" * 300)  # as for a directory of somebody else, the system answers with an error
    assert said.code == 78
    assert "that this user can read" in said.err
