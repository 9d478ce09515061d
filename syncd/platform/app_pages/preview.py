"""A site for people who are signed in, as its visitors would see it: before it is published, or with a change request.

Shape: `/app/preview/<site>/…`, and `/app/preview/<site>/~/changes/<change request>/…` with its content in place of its
space's main content. Nothing is there but the spaces that the person may read.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from urllib.parse import quote

import sqlalchemy as sa
from fastapi import Request
from starlette.responses import RedirectResponse, Response

from syncd.platform.people.auth import Caller
from syncd.platform.revisions.revisions import require_revision
from syncd.platform.schema.content import change_requests
from syncd.platform.storage.storage import Storage
from syncd.platform.visitors.sites import PublishedSite, PublishedSites
from syncd.platform.visitors.visits import PREVIEWS, SiteVisit, find_place, open_preview

_CHANGES = ["~", "changes"]
AnswerVisit = Callable[[Request, SiteVisit, Sequence[str]], Awaitable[Response]]
"""What answers a request of a visit, as for visitors."""


async def answer_preview(request: Request, caller: Caller, path: str) -> Response | None:
    """Answer a request for a path below `PREVIEWS`; None where there is no preview that the caller may see."""
    storage: Storage = request.app.state.storage
    sites: PublishedSites = request.app.state.published_sites
    answer_visit: AnswerVisit = request.app.state.answer_visit
    parts = [part for part in path.removeprefix(PREVIEWS).split("/") if part]
    if path == f"{PREVIEWS}/{parts[0] if parts else ''}":
        return RedirectResponse(f"{quote(path)}/", 308)

    def open_visit() -> tuple[SiteVisit, Sequence[str]] | str | None:
        site = sites.find_draft_site(caller, parts[0]) if parts else None
        if site is None:
            return None
        with storage.read() as connection:
            return _open_visit(connection, site, parts[1:])

    opened = await storage.run_read(open_visit)
    if opened is None:
        return None
    if isinstance(opened, str):
        return RedirectResponse(quote(opened), 303, {"Cache-Control": "no-store"})
    return await answer_visit(request, *opened)


def _open_visit(
    connection: sa.Connection, site: PublishedSite, parts: list[str]
) -> tuple[SiteVisit, Sequence[str]] | str | None:
    """The visit and what of the address leads on, or the address that names its change request by its id."""
    base = f"{PREVIEWS}/{site.row.id}"
    if parts[:2] != _CHANGES:
        return open_preview(site, base, {}), parts
    if not parts[2:]:
        return None
    named, rest = parts[2], parts[3:]
    row = _find_by_id(connection, site, named)
    if row is None:
        # A number says which change request it is only beside its space, which the rest of the address names.
        place = find_place(open_preview(site, base, {}), rest)
        row = None if place is None else _find_by_number(connection, str(place.site_space.space), named)
        return None if row is None else "/".join((base, *_CHANGES, row.id, *rest)) + ("" if rest else "/")
    content = site.spaces[row.space]
    revision = require_revision(connection, row.space, row.revision)
    proposed = replace(content, revision=revision.id, root=revision.root)
    shown = replace(site, spaces={**site.spaces, row.space: proposed})
    return open_preview(shown, "/".join((base, *_CHANGES, row.id)), {}), rest


def _find_by_id(connection: sa.Connection, site: PublishedSite, id: str) -> sa.Row[*tuple[object, ...]] | None:
    query = sa.select(change_requests).where(change_requests.c.id == id, change_requests.c.space.in_(site.spaces))
    return connection.execute(query).one_or_none()


def _find_by_number(connection: sa.Connection, space: str, number: str) -> sa.Row[*tuple[object, ...]] | None:
    mine = change_requests.c.space == space, sa.cast(change_requests.c.number, sa.String) == number
    return connection.execute(sa.select(change_requests).where(*mine)).one_or_none()
