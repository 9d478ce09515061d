"""What happens on a site: events that renderers send, counted by day, and read by who may change the site.

Nothing of a visitor is kept: no address, no cookie, no claims, no user agent.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse
from pydantic import ValidationError

from syncd.model.insights import EventCount, SiteEvent, SiteEvents
from syncd.model.listing import Listing
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.publish import event_counts
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import AtSite, SiteRequest
from syncd.platform.visitors.sites import PublishedSites

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/insights", tags=["site-insights"])

ROWS_MAX = 5_000
"""Different rows of one site and day; what would be one more is counted without its detail and its page."""
DAYS_MAX = 400
"""Days for which counts are kept."""
_DETAIL_MAX = 100
_ID_MAX = 100
RATINGS = ("bad", "ok", "good")


class EventKey(NamedTuple):
    """What an event counts for."""

    type: str
    site_space: str = ""
    page: str = ""
    detail: str = ""


class EventsBody(RequestBody, SiteEvents):
    """Body of `POST …/insights/events`."""


@router.post(
    "/events", status_code=204, openapi_extra=declare_role("read", extension=True, visitors=True, anonymous=True)
)
def track_events_in_site_by_id(at: AtSite, body: EventsBody) -> Response:
    """Count events of a site; of one that is published, anybody's: renderers pass on what their readers' browsers say.

    Raises: Failure 400 for an event without a type, 404 for a site that is not published or there for the caller.
    Source: `trackEventsInSiteById`, which no token is needed for, @gitbook/api 0.202.0.
    """
    events = [_read_event(number, event) for number, event in enumerate(body.events)]
    with at.storage.read() as connection:
        known = {row.id for row in _load_structure(at, connection).site_spaces}
    if at.caller.grant is not None and at.caller.grant.is_draft:
        return answers.no_content()  # whoever looks at a preview is no visitor
    with at.storage.write() as connection:
        count_events(connection, at.storage.now(), at.site_id, Counter(_build_key(event, known) for event in events))
    return answers.no_content()


def _load_structure(at: SiteRequest, connection: sa.Connection) -> Structure:
    if at.caller.user_id:
        return at.load_structure(connection)
    sites: PublishedSites = at.request.app.state.published_sites
    site = sites.find_site(at.site_id)
    if site is None or (site.row.organization, site.row.id) != (at.organization_id, at.site_id):
        raise Failure(404, f"No site {at.site_id} in organization {at.organization_id}.")
    return site.structure


@router.get("/events", response_model=Listing[EventCount], openapi_extra=declare_role("create", extension=True))
def list_site_event_counts(at: AtSite, paging: Paging) -> JSONResponse:
    """List how often what happened on a site, the newest day first."""
    query = sa.select(event_counts).where(event_counts.c.site == at.site_id)
    with at.storage.read() as connection:
        at.require_site(connection)
        rows = connection.execute(query).all()
    envelope = paging.paginate(rows, key=_make_sort_key, descending=True)
    return answers.ok(envelope | {"items": [_serialize_count(row) for row in envelope["items"]]})


def count_events(connection: sa.Connection, now: datetime, site_id: str, counted: Counter[EventKey]) -> None:
    """Add to a site's counts of today, and forget those of days long ago."""
    table = event_counts
    day, first = now.strftime("%Y-%m-%d"), (now - timedelta(days=DAYS_MAX)).strftime("%Y-%m-%d")
    connection.execute(table.delete().where(table.c.site == site_id, table.c.day < first))
    today = (table.c.site == site_id, table.c.day == day)
    present = {
        EventKey(row.type, row.site_space, row.page, row.detail): _read_count(row)
        for row in connection.execute(sa.select(table).where(*today))
    }
    for key, count in _limit_rows(counted, present):
        which = (table.c.type == key.type, table.c.site_space == key.site_space, table.c.page == key.page)
        here = (*today, *which, table.c.detail == key.detail)
        if key in present:
            connection.execute(table.update().where(*here).values(count=present[key] + count))
        else:
            row = {**key._asdict(), "site": site_id, "day": day, "count": count}
            connection.execute(table.insert().values(row))
        present[key] = present.get(key, 0) + count


def _limit_rows(counted: Counter[EventKey], present: dict[EventKey, int]) -> Iterator[tuple[EventKey, int]]:
    for key, count in counted.items():
        is_full = key not in present and len(present) >= ROWS_MAX
        yield (EventKey("other") if is_full else key), count


def _read_event(number: int, event: dict[str, Any]) -> SiteEvent:
    try:
        return SiteEvent.model_validate(event)
    except ValidationError as invalid:
        where = ".".join(map(str, invalid.errors()[0]["loc"]))
        raise Failure(400, f"events[{number}].{where}: {invalid.errors()[0]['msg']}") from None


def _build_key(event: SiteEvent, known: Iterable[str]) -> EventKey:
    """What an event counts for; places that the site does not have, and long texts, are left out."""
    site_space, page = str(event.location.get("siteSpace") or ""), str(event.location.get("page") or "")
    rating = event.feedback.get("rating")
    detail = str(rating) if rating in RATINGS else shorten_words(event.query)
    is_known = site_space in known
    is_page = is_known and len(page) <= _ID_MAX and page.isascii() and page.isprintable()
    return EventKey(event.type, site_space if is_known else "", page if is_page else "", detail)


def shorten_words(words: str) -> str:
    """Return words that were searched or asked as they are counted: without case, and not too many."""
    return " ".join(words.casefold().split())[:_DETAIL_MAX]


def _read_count(row: sa.Row[Any]) -> int:
    # As an attribute, `count` is that of every tuple.
    return int(row._mapping["count"])


def _make_sort_key(row: sa.Row[Any]) -> str:
    return " ".join((row.day, f"{_read_count(row):012d}", row.type, row.site_space, row.page, row.detail))


def _serialize_count(row: sa.Row[Any]) -> dict[str, Any]:
    optional = {"siteSpace": row.site_space, "page": row.page, "detail": row.detail}
    said = {name: value for name, value in optional.items() if value}
    return {"day": row.day, "type": row.type, **said, "count": _read_count(row)}
