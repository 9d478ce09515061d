"""What happens to installations, written down in the transaction in which it happens, with the webhooks to be called.

Whoever moves a space's main content, or changes who may see it, calls `record_event`. An event is for the active
installations that reach the space or site: those of its organization that chose all of them or this one, and whose
integration has the scope that the event takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa

from syncd.platform.schema.content import spaces
from syncd.platform.schema.integrations import events, facets, installations, logs, placements
from syncd.platform.schema.site_tables import sites
from syncd.platform.storage import jobs
from syncd.platform.storage.storage import Storage
from syncd.platform.storage.times import format_time

DELIVER = "deliver_event"
PRUNE = "prune_events"
"""Kinds of jobs; `delivery` does them."""

WEBHOOK_URL, WEBHOOK_SECRET = "webhook_url", "webhook_secret"
"""Properties of a configuration that have its events sent to an address, signed with a secret.

An integration that wants webhooks names both, as texts, among the properties of its `account`, `space` or `site`
configuration; what a space or site says goes before what the account says.
"""

SCOPES = {
    "space_content_updated": "space:content:read",
    "space_visibility_updated": "space:metadata:read",
    "site_view": "site:views:read",
    "page_feedback": "page:feedback:read",
}
"""What an integration needs to hear of each event. The document does not say so; the cautious choice."""

_PRUNED_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class EventTarget:
    """An installation that an event is for, with the configuration that holds where the event happened."""

    integration: str
    installation: str
    configuration: Mapping[str, Any]


def record_event(
    connection: sa.Connection,
    storage: Storage,
    type: str,
    *,
    space: str | None = None,
    site: str | None = None,
    **members: Any,
) -> None:
    """Record an event for every installation that it concerns: those with access to the space or site where it
    happened.

    Shape: `type` is one of `SCOPES`; `members` are further members of the payload by their API names, such as
    `revisionId`.
    """
    assert (space is None) != (site is None)
    place = {"spaceId": space} if space is not None else {"siteId": site}
    for target in _find_targets(connection, SCOPES[type], space, site):
        insert_event(connection, storage, target, type, {**place, **members})


def insert_event(
    connection: sa.Connection, storage: Storage, target: EventTarget, type: str, members: Mapping[str, Any]
) -> None:
    """Store an event for an installation, and start a job that calls its webhook, when it has one.

    The address and the secret travel with the job, so that an installation that is removed still hears of its removal.
    """
    id, now = storage.new_id(), format_time(storage.now())
    payload = {"eventId": id, "type": type, "installationId": target.installation, **members}
    url, secret = target.configuration.get(WEBHOOK_URL), target.configuration.get(WEBHOOK_SECRET)
    connection.execute(
        events.insert().values(
            id=id,
            integration=target.integration,
            installation=target.installation,
            payload=payload,
            status=None if url else "success",
            attempts=0,
            created_at=now,
        )
    )
    said = f"Queued for the webhook at {urlsplit(url).hostname}." if url else "No webhook is configured."
    insert_log(connection, id, now, "debug", said)
    if url:
        jobs.enqueue_job(connection, storage, DELIVER, {"event": id, "url": url, "secret": secret or ""})
    due = storage.now() + _PRUNED_AFTER
    jobs.enqueue_job(connection, storage, PRUNE, {"integration": target.integration}, due=due, key=target.integration)


def insert_log(connection: sa.Connection, event: str, at: str, level: str, message: str) -> None:
    """Add a line to the trace of an event. Shape: `level` is debug, info, warn or error."""
    number = sa.select(sa.func.count()).select_from(logs).where(logs.c.event == event).scalar_subquery()
    connection.execute(logs.insert().values(event=event, number=number, at=at, level=level, message=message))


def hide_secret(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration without the secret of its webhook, as events may show it."""
    return {name: value for name, value in configuration.items() if name != WEBHOOK_SECRET}


def _find_targets(connection: sa.Connection, scope: str, space: str | None, site: str | None) -> list[EventTarget]:
    if space is not None:
        home = sa.select(spaces.c.organization).where(spaces.c.id == space)
        here, selection = placements.c.space == space, installations.c.space_selection
    else:
        home = sa.select(sites.c.organization).where(sites.c.id == site)
        here, selection = placements.c.site == site, installations.c.site_selection
    everywhere = sa.and_(placements.c.id.is_(None), selection == "all")
    scoped = sa.select(facets.c.integration).where(facets.c.kind == "scope", facets.c.value == scope)
    query = (
        sa.select(installations, placements.c.configuration.label("own"))
        .outerjoin(placements, sa.and_(placements.c.installation == installations.c.id, here))
        .where(
            installations.c.organization == home.scalar_subquery(),
            installations.c.status == "active",
            sa.or_(everywhere, placements.c.status == "active"),
            installations.c.integration.in_(scoped),
        )
        .order_by(installations.c.created_at, installations.c.id)
    )
    rows = connection.execute(query).all()
    return [EventTarget(row.integration, row.id, {**row.configuration, **(row.own or {})}) for row in rows]
