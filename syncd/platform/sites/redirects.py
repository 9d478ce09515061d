"""Redirects: old paths of a site and where they lead; one redirect a source, whatever its letter case or encoding."""

from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import Query, Response
from fastapi.responses import JSONResponse
from pydantic import Field, ValidationError

from syncd.model.listing import Listing
from syncd.model.redirect import (
    SOURCE_MAX,
    DestinationWrite,
    RedirectResults,
    RedirectTarget,
    SiteRedirect,
    Source,
    ToSection,
    make_source_key,
)
from syncd.platform.http import answers, failures
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema import site_tables
from syncd.platform.sites.destinations import normalise_destination, resolve_destination
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.redirect_batch import RedirectBatch
from syncd.platform.sites.structure import EXTENSION_DEPENDENCIES, AtSite, SiteRequest, SiteView
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}", tags=["site-redirects"])

_TABLE = site_tables.redirects


class RedirectNew(RequestBody):
    """Body of `POST …/redirects`."""

    source: Source
    destination: DestinationWrite
    permanent: bool = False


class RedirectChange(RequestBody):
    """Body of `PATCH …/redirects/{siteRedirectId}`: unset is unchanged."""

    source: Source = ""
    destination: DestinationWrite = ToSection(kind="site-section", site_section_id="")
    permanent: bool = False


class BulkItem(RequestBody):
    """One redirect of many; a null destination deletes it."""

    source: Source
    destination: DestinationWrite | None
    intent: Literal["live"] = "live"
    capture_wildcard: Literal[False] = False
    permanent: bool = False


class BulkRedirects(RequestBody):
    """Body of `PUT …/redirects`; items are checked one by one, so that one mistake does not stop the others."""

    redirects: list[dict[str, Any]] = Field(min_length=1, max_length=500)


@router.get("/redirects", response_model=Listing[SiteRedirect], openapi_extra=declare_role("read"))
def list_site_redirects(
    at: AtSite, paging: Paging, search: Annotated[str, Query(max_length=SOURCE_MAX)] = ""
) -> JSONResponse:
    """List the redirects of a site, oldest first; `search` keeps those with this text in their source."""
    query = _select_redirects(at)
    if search:
        query = query.where(_TABLE.c.source.icontains(search, autoescape=True))
    with at.storage.read() as connection:
        at.require_site(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_serialize_redirect(row) for row in envelope["items"]]})


@router.post("/redirects", status_code=201, response_model=SiteRedirect, openapi_extra=declare_role("create"))
def create_site_redirect(at: AtSite, create: RedirectNew) -> JSONResponse:
    """Create a redirect. Raises: Failure 409 when the site redirects its source already."""
    with at.storage.write() as connection:
        view = at.open_view(connection)
        return answers.created_resource(
            _serialize_redirect(
                _insert_redirect(
                    view, create.source, normalise_destination(view, create.destination), is_permanent=create.permanent
                )
            )
        )


@router.patch("/redirects/{site_redirect_id}", response_model=SiteRedirect, openapi_extra=declare_role("create"))
def update_site_redirect_by_id(at: AtSite, site_redirect_id: str, update: RedirectChange) -> JSONResponse:
    """Change the members of a redirect that the body sets, and return the redirect."""
    values: dict[str, Any] = {}
    with at.storage.write() as connection:
        view = at.open_view(connection)
        row = _require_redirect(view, site_redirect_id)
        if "destination" in update.model_fields_set:
            values["destination"] = normalise_destination(view, update.destination)
        if "source" in update.model_fields_set:
            _require_free_source(view, update.source, besides=row.id)
            values |= {"source": update.source, "source_key": make_source_key(update.source)}
        if "permanent" in update.model_fields_set:
            values["permanent"] = update.permanent
        if values:
            connection.execute(_TABLE.update().where(_TABLE.c.id == row.id).values(values))
        return answers.ok(_serialize_redirect(_require_redirect(view, row.id)))


@router.delete("/redirects/{site_redirect_id}", status_code=204, openapi_extra=declare_role("create"))
def delete_site_redirect_by_id(at: AtSite, site_redirect_id: str) -> Response:
    """Delete a redirect."""
    with at.storage.write() as connection:
        at.require_site(connection)
        connection.execute(_TABLE.delete().where(_TABLE.c.id == site_redirect_id, _TABLE.c.site == at.site_id))
    return answers.no_content()


@router.put(
    "/redirects",
    response_model=RedirectResults,
    openapi_extra=declare_role("create", extension=True),
    dependencies=EXTENSION_DEPENDENCIES,
)
def bulk_upsert_site_redirects(at: AtSite, bulk: BulkRedirects) -> JSONResponse:
    """Create, change and delete redirects, each on its own, and return what became of each.

    Source: @gitbook/api 0.202.0. Drafts and wildcards are refused, as nothing here could show them again.
    """
    with at.storage.write() as connection:
        view = at.open_view(connection)
        batch = RedirectBatch(
            view, (source for item in bulk.redirects if isinstance(source := item.get("source"), str))
        )
        results = [_apply_bulk_item(view, batch, item) for item in bulk.redirects]
        batch.write_all()
        return answers.ok({"results": results})


@router.get("/redirect", response_model=RedirectTarget, openapi_extra=declare_role("read", visitors=True))
def get_site_redirect_by_source(
    at: AtSite, source: Annotated[Source, Query()], share_key: ShareKey = None
) -> JSONResponse:
    """Return the redirect for a source, and the address that it leads to.

    Raises: Failure 404 when there is none, and when what it leads to has been deleted since.
    """
    with at.storage.read() as connection:
        view = at.open_view(connection, share_key)
        row = _find_redirect(view, source)
        if row is None:
            raise Failure(404, f"Site {at.site_id} has no redirect for this source.")
        address = resolve_destination(view, row.destination)
    if address is None:
        raise Failure(404, f"What redirect {row.id} leads to no longer exists.")
    return answers.ok({"redirect": _serialize_redirect(row), "target": address})


def _apply_bulk_item(view: SiteView, batch: RedirectBatch, raw: dict[str, Any]) -> dict[str, Any]:
    source = raw.get("source")
    result = {"source": source if isinstance(source, str) else "", "draft": False}
    try:
        return result | _put_redirect(view, batch, BulkItem.model_validate(raw))
    except ValidationError as invalid:
        return result | {"status": "error", "error": failures.format_problems(invalid.errors())}
    except Failure as refused:
        return result | {"status": "error", "error": refused.message}


def _put_redirect(view: SiteView, batch: RedirectBatch, item: BulkItem) -> dict[str, Any]:
    if item.destination is None:
        batch.delete_redirect(item.source)
        return {"status": "deleted"}
    id, new = batch.put_redirect(
        item.source, {"destination": normalise_destination(view, item.destination), "permanent": item.permanent}
    )
    return {"status": "created" if new else "updated", "id": id}


def _insert_redirect(view: SiteView, source: str, destination: dict[str, Any], *, is_permanent: bool) -> sa.Row[Any]:
    _require_free_source(view, source, besides=None)
    storage = view.at.storage
    row = {
        "id": storage.new_id(),
        "site": view.at.site_id,
        "source": source,
        "source_key": make_source_key(source),
        "destination": destination,
        "permanent": is_permanent,
        "created_at": format_time(storage.now()),
    }
    return view.connection.execute(_TABLE.insert().values(row).returning(_TABLE)).one()


def _require_free_source(view: SiteView, source: str, *, besides: str | None) -> None:
    taken = _find_redirect(view, source)
    if taken is not None and taken.id != besides:
        raise Failure(409, f"source: redirect {taken.id} of this site has the same source")


def _find_redirect(view: SiteView, source: str) -> sa.Row[Any] | None:
    return view.connection.execute(
        _select_redirects(view.at).where(_TABLE.c.source_key == make_source_key(source))
    ).one_or_none()


def _require_redirect(view: SiteView, site_redirect_id: str) -> sa.Row[Any]:
    row = view.connection.execute(_select_redirects(view.at).where(_TABLE.c.id == site_redirect_id)).one_or_none()
    if row is None:
        raise Failure(404, f"No redirect {site_redirect_id} in site {view.at.site_id}.")
    return row


def _select_redirects(at: SiteRequest) -> sa.Select[Any]:
    return sa.select(_TABLE).where(_TABLE.c.site == at.site_id)


def _serialize_redirect(row: sa.Row[Any]) -> dict[str, Any]:
    return {
        "object": "site-redirect",
        "id": row.id,
        "source": row.source,
        "destination": row.destination,
        "draft": False,
        "captureWildcard": False,
        "permanent": row.permanent,
        "createdAt": row.created_at,
    }
