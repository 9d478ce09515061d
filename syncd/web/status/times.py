"""Moments for people: exact and in UTC, and how long ago."""

from datetime import UTC, datetime

_UNITS = ((86400 * 7, "week"), (86400, "day"), (3600, "hour"), (60, "min"))


def parse_moment(text: str) -> float | None:
    """Return a moment of ISO 8601 in epoch seconds; None for any other text."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def format_age(seconds: float, now: float) -> str:
    """Return how long ago a moment is, in one unit; both in epoch seconds."""
    age = now - seconds
    word = "{} ago" if age >= 0 else "in {}"
    for length, unit in _UNITS:
        if abs(age) >= length:
            count = int(abs(age) // length)
            plural = "" if count == 1 or unit == "min" else "s"
            return word.format(f"{count} {unit}{plural}")
    return "now" if abs(age) < 10 else word.format(f"{int(abs(age))} s")
