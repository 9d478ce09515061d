"""Calling webhooks, at least once each: signed, tried again a few times, and traced with their event.

A call is a POST of the event's payload as JSON with the header `X-GitBook-Signature: t=<seconds>,v1=<hex>`, where the
hexadecimal is HMAC-SHA256 of `<t>.<body>` with the configured secret. Whoever receives it answers 2xx within ten
seconds; it may come twice, and `eventId` tells. Source: @gitbook/api 0.146.0.
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

import syncd
from syncd.net import exchange
from syncd.net.signatures import sign_webhook
from syncd.platform.integrations.events import DELIVER, PRUNE, insert_log
from syncd.platform.schema.integrations import events
from syncd.platform.storage.jobs import JobContext
from syncd.platform.storage.times import format_time

WAITS_S = (1.0, 2.0, 4.0)
"""Before each further try, give or take `JITTER`."""
JITTER = 0.1
TIMEOUT_S = 10.0
KEPT_FOR = timedelta(days=30)
KEPT_MAX = 10_000
"""Events that each integration keeps; the document shows no limit."""

_AGAIN = {429, *range(500, 600)}


@dataclass(frozen=True)
class _DeliveryOutcome:
    """What became of a call. Shape: `is_final` is False when another try may do better."""

    is_delivered: bool
    is_final: bool
    message: str


def deliver_event(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    """Call the webhook with an event, and return after what time to try again; None when it is delivered or given
    up.
    """
    with context.storage.read() as connection:
        query = sa.select(events.c.payload, events.c.attempts, events.c.status).where(events.c.id == payload["event"])
        event = connection.execute(query).one_or_none()
    if event is None or event.status is not None:
        return None
    outcome = _call_webhook(context, payload["url"], payload["secret"], json.dumps(event.payload).encode())
    number = event.attempts + 1
    wait = None if outcome.is_final or number > len(WAITS_S) else WAITS_S[event.attempts]
    if wait is not None:
        wait *= random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  (to spread load, not to keep a secret)
    level = "info" if outcome.is_delivered else "error" if wait is None else "warn"
    then = "" if outcome.is_delivered else " No further try." if wait is None else f" Next try in {wait:.1f} s."
    status = "success" if outcome.is_delivered else "failed" if wait is None else None
    with context.storage.write() as connection:
        changed = events.update().where(events.c.id == payload["event"]).values(status=status, attempts=number)
        if not connection.execute(changed).rowcount:
            return None
        message = f"Try {number}: {outcome.message}{then}"
        insert_log(connection, payload["event"], format_time(context.storage.now()), level, message)
    return None if wait is None else timedelta(seconds=wait)


def prune_events(context: JobContext, payload: Mapping[str, Any]) -> timedelta | None:
    """Delete an integration's events that are too old or too many; return when to look again, None when no event is
    left.
    """
    mine = events.c.integration == payload["integration"]
    oldest = format_time(context.storage.now() - KEPT_FOR)
    newest = sa.select(events.c.number).where(mine).order_by(events.c.number.desc()).offset(KEPT_MAX).limit(1)
    with context.storage.write() as connection:
        connection.execute(events.delete().where(mine, events.c.created_at < oldest))
        beyond = connection.scalar(newest)
        if beyond is not None:
            connection.execute(events.delete().where(mine, events.c.number <= beyond))
        left = connection.scalar(sa.select(events.c.id).where(mine).limit(1))
    return None if left is None else timedelta(days=1)


def _call_webhook(context: JobContext, url: str, secret: str, body: bytes) -> _DeliveryOutcome:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"syncd/{syncd.__version__}",
        "X-GitBook-Signature": sign_webhook(secret, int(context.storage.now().timestamp()), body),
    }
    # Only the host: the rest of an address may be a secret.
    host = urlsplit(url).hostname
    private = context.settings.private_addresses
    try:
        # The body of the answer does not matter, so it is not read. A redirect is an answer like any other.
        with exchange.open_stream(
            "POST", url, headers=headers, body=body, timeout=TIMEOUT_S, private=private, redirects=0
        ) as answer:
            status = answer.status
    except exchange.Refused as refused:
        return _DeliveryOutcome(False, True, f"{host} was not called: {refused}")
    except exchange.NetworkError as failed:
        return _DeliveryOutcome(False, False, f"{host} did not answer: {failed}")
    done = 200 <= status < 300
    return _DeliveryOutcome(done, done or status not in _AGAIN, f"{host} answered {status}.")


HANDLERS = {DELIVER: deliver_event, PRUNE: prune_events}
