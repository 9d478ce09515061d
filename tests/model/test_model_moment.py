"""Times that a platform tells."""

from datetime import UTC, datetime, timedelta

import pytest

from syncd.model.moment import CLOCK_AHEAD, choose_moment

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-02-01T10:00:00.000Z", datetime(2026, 2, 1, 10, tzinfo=UTC)),
        ((NOW + CLOCK_AHEAD).isoformat(), NOW + CLOCK_AHEAD),
        ((NOW + CLOCK_AHEAD + timedelta(seconds=1)).isoformat(), NOW),
        ("1969-12-31T23:59:59Z", NOW),
        ("soon", NOW),
        ("", NOW),
        (None, NOW),
    ],
)
def test_a_time_that_cannot_be_is_the_present_one(text: str | None, moment: datetime) -> None:
    assert choose_moment(text, NOW) == moment


def test_nothing_happens_before_what_came_before_it() -> None:
    at, later = datetime(2026, 2, 1, 10, tzinfo=UTC), datetime(2026, 2, 3, tzinfo=UTC)
    before = [int(one.timestamp()) for one in (later, at, NOW + CLOCK_AHEAD + timedelta(seconds=1))]
    assert choose_moment(at.isoformat(), NOW, [*before, 1 << 70]) == later
    assert choose_moment(at.isoformat(), NOW, [0]) == at
