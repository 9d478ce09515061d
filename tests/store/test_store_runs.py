"""The file of the last runs' records: whole or as it was before, and nothing when it makes no sense."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from syncd.errors import StoreError
from syncd.store.runs import FORMAT, RunRecord, read_runs, write_runs

AT, BEFORE = "2026-05-01T10:00:00+00:00", "2026-05-01T09:00:00+00:00"
RECORDS = (
    RunRecord("repository", "docs", "partial", 4, "mirror api: not found", "check the id", AT, BEFORE, AT, 3, 1, 2),
    RunRecord("space", "api", "failed", 78, at=AT),
)


def document(**members: object) -> bytes:
    """A file with one record that has these members beside those that each has."""
    record = {"kind": "space", "name": "a", "state": "ok", "at": AT, **members}
    return json.dumps({"format": FORMAT, "runs": [record]}).encode()


def test_what_was_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "runs.json"
    write_runs(file, RECORDS)
    assert read_runs(file) == RECORDS
    write_runs(file, RECORDS[:1])
    assert read_runs(file) == RECORDS[:1]
    assert [path.name for path in file.parent.iterdir()] == ["runs.json"]
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"runs": []}',
        json.dumps({"format": FORMAT + 1, "runs": []}).encode(),
        json.dumps({"format": FORMAT, "runs": 3}).encode(),
        json.dumps({"format": FORMAT, "runs": ["docs"]}).encode(),
        json.dumps({"format": FORMAT, "runs": [{"kind": "space"}]}).encode(),
        document(failures="3"),
        document(at="soon"),
        document(at=""),
        document(succeeded="2026-05-01T10:00:00"),
    ],
)
def test_what_makes_no_sense_holds_no_records(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "runs.json"
    file.write_bytes(text)
    assert read_runs(file) == ()


def test_a_member_of_a_newer_version_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_bytes(document(new=[]))
    assert read_runs(file) == (RunRecord("space", "a", "ok", at=AT),)


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"runs\.json cannot be written"):
        write_runs(tmp_path / "file" / "runs.json", RECORDS)


WRITE = """
import sys
from pathlib import Path
from syncd.errors import DiskFull
from syncd.store.runs import write_runs
try:
    write_runs(Path(sys.argv[1]), ())
except DiskFull as error:
    print(error.what)
"""


def test_a_full_disk_is_said_to_be_full_and_leaves_what_was_there(tmp_path: Path) -> None:
    script = 'mount -t tmpfs -o size=4k tmpfs "$1" && printf before > "$1/runs.json" && "$2" -c "$3" "$1/runs.json"'
    script += ' && cat "$1/runs.json" && ls -A "$1"'
    command = ["unshare", "-Urm", "sh", "-c", script, "sh", str(tmp_path), sys.executable, WRITE]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == f"no space is left for {tmp_path / 'runs.json'}\nbeforeruns.json\n", done.stderr
