"""A clock that a test turns, in place of the platform's own."""

from datetime import UTC, datetime, timedelta


class Clock:
    """Stands still, from the morning of a day in January, until it is turned."""

    def __init__(self, hour: int = 0) -> None:
        self.now = datetime(2026, 1, 31, hour, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def on(self, **step: float) -> None:
        """Turn it by so many days, hours, minutes or seconds."""
        self.now += timedelta(**step)
