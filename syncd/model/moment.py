"""Points in time as texts."""

from datetime import UTC, datetime


def parse_moment(text: str) -> datetime | None:
    """Return the time (aware) that a text of ISO 8601 names, in UTC where it names no zone; None when it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
