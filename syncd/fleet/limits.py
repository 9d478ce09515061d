"""Rate limits of the platform's tokens, counted by all workers together: each request once little is left, and the time
until which a token is to be left alone.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from syncd.api.transport.rate_limit import NAMED_WAIT_MAX, Share
from syncd.config import PlatformConfig, load_token
from syncd.errors import FleetUnreachable, RateLimited, SyncdError
from syncd.fleet.database import FleetDatabase, Row
from syncd.sync.outcome import Outcome, Waiting

if TYPE_CHECKING:
    import psycopg


def compute_token_key(platform: PlatformConfig, environ: Mapping[str, str]) -> str:
    """Return what stands for a token in the database, and does not give it away; "" where there is none."""
    try:
        token = load_token(platform, environ).get_secret_value()
    except SyncdError:
        return ""
    return hashlib.sha256(f"{platform.url}\0{token}".encode()).hexdigest()[:16]


def note_limit(cursor: "psycopg.Cursor[Row]", key: str, outcome: Outcome, *, now: float) -> None:
    """Note in a transaction that the limit of a token is used up, if that is what a run came to.

    Units: `now` in epoch seconds, by the clock that `outcome.until` is of.
    """
    if isinstance(outcome, Waiting) and outcome.until is not None and outcome.exit_code == RateLimited.exit_code:
        # As a time from now: the clock of this worker may be wrong, and all others would wait for it.
        seconds = min(max(outcome.until - now, 0.0), NAMED_WAIT_MAX)
        cursor.execute(
            "INSERT INTO syncd_fleet_limits AS l (token_key, until)"
            " VALUES (%(key)s, clock_timestamp() + make_interval(secs => %(seconds)s))"
            " ON CONFLICT (token_key) DO UPDATE SET until = greatest(l.until, excluded.until)",
            {"key": key, "seconds": seconds},
        )


def share_windows(database: FleetDatabase, key: str) -> Share:
    """Return a function that counts requests with a token for all workers; without the database, for this one alone."""

    def share(method: str, remaining: float, seconds: float) -> float:
        with suppress(FleetUnreachable):
            # Clocks and answers differ by a little, and windows by more.
            found = database.query(
                "INSERT INTO syncd_fleet_windows AS w (token_key, method, ends_at, remaining) VALUES (%(key)s,"
                " %(method)s, clock_timestamp() + make_interval(secs => %(seconds)s), %(remaining)s - 1)"
                " ON CONFLICT (token_key, method) DO UPDATE SET ends_at = excluded.ends_at, remaining = CASE"
                " WHEN abs(extract(epoch FROM w.ends_at - excluded.ends_at)) > 5 THEN excluded.remaining"
                " ELSE least(w.remaining - 1, excluded.remaining) END RETURNING remaining + 1",
                {"key": key, "method": method, "seconds": seconds, "remaining": remaining},
            )
            return float(found[0][0])
        return remaining

    return share
