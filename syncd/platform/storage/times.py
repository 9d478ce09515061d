"""Moments as the API writes them: UTC, milliseconds, `Z`; as text they sort in time order."""

from datetime import UTC, datetime


def format_time(moment: datetime) -> str:
    """Given an aware moment, return it as the API writes it, for example `2026-01-31T08:15:00.250Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
