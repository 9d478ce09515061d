"""Points in time as texts."""

from collections.abc import Iterable
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


def format_moment(seconds: float) -> str:
    """Return a moment in epoch seconds as `2026-05-01 10:00:00 UTC`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def choose_moment(text: str | None, now: datetime, before: Iterable[int] = ()) -> datetime:
    """Return the time that a platform says something happened, or the latest time `before` it where that is later.

    Shape: `now` is for a text that names no time, or none that can be; a time `before` that cannot be is passed over.
    Units: `before` are seconds since 1970.
    """
    latest, moment = (now + CLOCK_AHEAD).timestamp(), parse_moment(text or "")
    told = moment if moment is not None and 0 <= moment.timestamp() <= latest else now
    return max([told, *(datetime.fromtimestamp(second, UTC) for second in before if second <= latest)])
