"""Points in time as texts."""

from datetime import UTC, datetime, timedelta

CLOCK_AHEAD = timedelta(hours=1)
"""How far a platform's clock may be ahead of this machine's."""


def parse_moment(text: str) -> datetime | None:
    """Return the time (aware) that a text of ISO 8601 names, in UTC where it names no zone; None when it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def choose_moment(text: str | None, now: datetime) -> datetime:
    """Return the time that a platform says something happened; `now` where it says none, or none that can be."""
    moment = parse_moment(text or "")
    return moment if moment is not None and 0 <= moment.timestamp() <= (now + CLOCK_AHEAD).timestamp() else now
