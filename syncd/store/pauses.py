"""Whether the service is to leave a repository alone, in a small file of its own, so that it outlives a restart."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from syncd.store.small_files import write_small_file

FORMAT = 1
"""Of the file; one that says another number is not read."""


@dataclass(frozen=True)
class PauseRecord:
    """What was last decided of a repository: to pause it, or to resume it.

    Shape: `at` is when that was, `until` when the pause ends by itself: ISO 8601 in UTC, or "" for never.
    """

    is_pause: bool
    at: str
    until: str = ""

    def is_over(self, now: float) -> bool:
        """Return whether the service may run the repository now. Units: epoch seconds."""
        return not self.is_pause or (bool(self.until) and datetime.fromisoformat(self.until).timestamp() <= now)


def read_pause(file: Path) -> PauseRecord | None:
    """Return the record in a file; one that is absent, damaged or cannot be read holds none."""
    try:
        document = json.loads(file.read_bytes())
        record = PauseRecord(document["is_pause"], document["at"], document["until"])
        moments = [datetime.fromisoformat(moment) for moment in (record.at, *filter(None, [record.until]))]
        known = document["format"] == FORMAT and isinstance(record.is_pause, bool)
        return record if known and all(moment.tzinfo is not None for moment in moments) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def write_pause(file: Path, record: PauseRecord) -> None:
    """Write a record to its file. Raises: DiskFull, StoreError."""
    write_small_file(file, json.dumps({"format": FORMAT, **asdict(record)}, indent=1))
