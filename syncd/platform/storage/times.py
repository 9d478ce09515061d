"""Times in the format of the API: UTC, milliseconds, `Z`; sorted as text they are in chronological order."""

from datetime import UTC, datetime


def format_time(moment: datetime) -> str:
    """Return an aware time in the format of the API, for example `2026-01-31T08:15:00.250Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
