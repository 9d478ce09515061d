"""The outcome of the last run, in a small file of its own, so that it outlives the process and the state database."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from syncd.store.small_files import write_small_file

SERVICE_RUNS = "syncd/service.json"
"""Below a repository's git directory: the records of the service's last run."""
COMMAND_RUNS = "syncd/command.json"
"""Below a repository's git directory: the records of the last run by a command."""
FORMAT = 1
"""Of the file; one that says another number is not read."""


@dataclass(frozen=True)
class RunRecord:
    """What the last run of one subject of a repository came to.

    Shape: `kind` is repository, space, site, publish or upstream, and `name` its name in the configuration. `at` is
    when the last run ended, `succeeded` when one last succeeded, `since` when the first of the present `failures`
    ended: ISO 8601 in UTC, or "" for never. `held` counts flows that wait for a person, `conflicts` pages that do.
    """

    kind: str
    name: str
    state: str
    exit_code: int = 0
    why: str = ""
    hint: str = ""
    at: str = ""
    succeeded: str = ""
    since: str = ""
    failures: int = 0
    held: int = 0
    conflicts: int = 0


_TYPES = {field.name: field.type for field in fields(RunRecord)}


def read_runs(file: Path) -> tuple[RunRecord, ...]:
    """Return the records in a file; a file that is absent, damaged or unreadable has none."""
    try:
        document = json.loads(file.read_bytes())
        if document["format"] != FORMAT:
            return ()
        return tuple(_parse_record(each) for each in document["runs"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ()


def write_runs(file: Path, records: Iterable[RunRecord]) -> None:
    """Replace the records in a file, all of them or none.

    Raises: DiskFull, StoreError.
    """
    text = json.dumps({"format": FORMAT, "runs": [asdict(record) for record in records]}, indent=1)
    write_small_file(file, text)


def _parse_record(each: Any) -> RunRecord:
    record = RunRecord(**{name: value for name, value in each.items() if name in _TYPES})
    if any(type(getattr(record, name)) is not kind for name, kind in _TYPES.items()):
        raise TypeError("a member has another type")
    moments = [record.at, *filter(None, (record.succeeded, record.since))]
    if any(datetime.fromisoformat(moment).utcoffset() is None for moment in moments):
        raise ValueError("a moment says no time zone")
    return record
