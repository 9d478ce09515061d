"""Sites: published docs, made of site-spaces or of sections that hold them."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.site import Site, SiteCreate, SiteStructure, SiteType, SiteUpdate
from syncd.platform.http import addresses, answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import Caller, declare_role, is_role_at_least
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest
from syncd.platform.schema import site_tables
from syncd.platform.schema.publish import customizations
from syncd.platform.sites import site_content, site_spaces
from syncd.platform.sites.keys import ShareKey
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import (
    EXTENSION_DEPENDENCIES,
    AtSite,
    SiteRequest,
    build_published_urls,
    find_free_path,
)
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites", tags=["sites"])

_TABLE = site_tables.sites
_COUNT = (
    sa.select(sa.func.count())
    .select_from(site_tables.site_spaces)
    .where(site_tables.site_spaces.c.site == _TABLE.c.id)
    .scalar_subquery()
    .label("site_space_count")
)
_SETTINGS = customizations.c.settings
_SITE_COLUMNS = sa.select(
    _TABLE,
    _COUNT,
    _SETTINGS["favicon"].label("favicon"),
    _SETTINGS["advancedCustomization"].label("advanced"),
).outerjoin(customizations, customizations.c.site == _TABLE.c.id)
_DEFAULT_LEVEL = "inherit"
"""A site has no level of its own: its organization's roles say who may do what."""
_PERMISSIONS = {
    "access": "read",
    "edit": "edit",
    "create": "create",
    "admin": "admin",
    "installIntegration": "admin",
    "viewAdaptiveSchema": "read",
    "editAdaptiveSchema": "create",
}
"""The weakest role for each permission."""
_FEATURE_PLAN = "basic"
"""Every plan of this platform has every feature, so each belongs to the smallest one."""


class SiteNew(RequestBody, SiteCreate):
    """Body of `POST …/sites`."""


class SiteChange(RequestBody, SiteUpdate):
    """Body of `PATCH …/sites/{siteId}`."""


async def _build_filters(
    space: Annotated[str | None, Query(max_length=100)] = None,
    title: Annotated[str | None, Query(max_length=128)] = None,
    published: bool | None = None,
    type: Annotated[list[SiteType] | None, Query(max_length=10)] = None,
) -> list[sa.ColumnElement[bool]]:
    # The filters' names are not in the document. Source: @gitbook/api 0.146.0. That `title` is a part of the
    # title, in any letter case, is what the sources leave open.
    linked = site_tables.site_spaces
    having = sa.select(linked.c.site).where(linked.c.space == space)
    filters = {
        _TABLE.c.id.in_(having): space,
        _TABLE.c.title.icontains(title or "", autoescape=True): title,
        _TABLE.c.published.is_(published): published,
        _TABLE.c.type.in_(type or ()): type,
    }
    return [condition for condition, given in filters.items() if given is not None]


@router.get("", response_model=Listing[Site], openapi_extra=declare_role("read"))
def list_sites(
    at: AtOrganization, paging: Paging, filters: Annotated[list[sa.ColumnElement[bool]], Depends(_build_filters)]
) -> JSONResponse:
    """List the sites of an organization to which every given filter applies, oldest first."""
    query = _SITE_COLUMNS.where(_TABLE.c.organization == at.organization_id, *filters)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [serialize_site(at.request, at.caller, row) for row in envelope["items"]]})


@router.post("", status_code=201, response_model=Site, openapi_extra=declare_role("admin"))
def create_site(at: AtOrganization, body: SiteNew | None = None) -> JSONResponse:
    """Create an unpublished site that shows the named spaces."""
    create = body or SiteNew()
    with at.storage.write() as connection:
        at.require_organization(connection)
        site_id = _insert_site(connection, at, create)
        new = SiteRequest.of(at, site_id)
        for space_id in create.spaces:
            site_spaces.insert_site_space(new.open_view(connection), section_id=None, space_id=space_id)
        site = read_site(connection, new)
    return answers.created_resource(site, location=new.build_url(""))


@router.get("/{site_id}", response_model=Site, openapi_extra=declare_role("read", visitors=True))
def get_site_by_id(at: AtSite) -> JSONResponse:
    """Return a site."""
    with at.storage.read() as connection:
        at.require_site(connection)
        return answers.ok(read_site(connection, at))


@router.patch("/{site_id}", response_model=Site, openapi_extra=declare_role("admin"))
def update_site_by_id(at: AtSite, update: SiteChange) -> JSONResponse:
    """Change the members of a site that the body sets, and return the site."""
    with at.storage.write() as connection:
        values, section = _build_changes(at.load_structure(connection), update)
        _require_free_basename(connection, at.site_id, values.get("basename"))
        if values:
            connection.execute(_TABLE.update().where(_TABLE.c.id == at.site_id).values(values))
        if section is not None:
            table = site_tables.sections
            chosen = {"default_site_space": update.default_site_space}
            connection.execute(table.update().where(table.c.id == section).values(chosen))
        return answers.ok(read_site(connection, at))


@router.delete("/{site_id}", status_code=204, openapi_extra=declare_role("admin"))
def delete_site_by_id(at: AtOrganization, site_id: str) -> Response:
    """Delete a site with its structure and redirects; the spaces that it published stay."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        mine = (_TABLE.c.id == site_id, _TABLE.c.organization == at.organization_id)
        connection.execute(_TABLE.delete().where(*mine))
    return answers.no_content()


@router.get(
    "/{site_id}/structure",
    response_model=SiteStructure,
    openapi_extra=declare_role("read", extension=True),
    dependencies=EXTENSION_DEPENDENCIES,
)
def get_site_structure(at: AtSite, share_key: ShareKey = None) -> JSONResponse:
    """Return the section groups and sections of a site, or its site-spaces when it has no sections.

    Source: @gitbook/api 0.202.0.
    """
    with at.storage.read() as connection:
        return answers.ok(at.open_view(connection, share_key).serialize_structure())


@router.post("/{site_id}/publish", response_model=Site, openapi_extra=declare_role("admin", extension=True))
def publish_site(at: AtSite) -> JSONResponse:
    """Publish a site to the audience of its visibility. Source: @gitbook/api 0.202.0."""
    return _set_published(at, published=True)


@router.post("/{site_id}/unpublish", response_model=Site, openapi_extra=declare_role("admin", extension=True))
def unpublish_site(at: AtSite) -> JSONResponse:
    """Close a site to visitors. Source: @gitbook/api 0.202.0."""
    return _set_published(at, published=False)


def _set_published(at: SiteRequest, *, published: bool) -> JSONResponse:
    with at.storage.write() as connection:
        at.require_site(connection)
        connection.execute(_TABLE.update().where(_TABLE.c.id == at.site_id).values(published=published))
        return answers.ok(read_site(connection, at))


def _insert_site(connection: sa.Connection, at: OrganizationRequest, create: SiteNew) -> str:
    site_id = at.storage.new_id()
    title = create.title or _find_first_title(connection, at, create.spaces)
    # Every basename is read, which is one indexed scan for an operation that people do a few times a year.
    taken = {str(name) for name in connection.scalars(sa.select(_TABLE.c.basename))}
    row = {
        "id": site_id,
        "organization": at.organization_id,
        "type": create.type,
        "title": title,
        "basename": find_free_path(title, taken),
        "visibility": create.visibility,
        "published": False,
        "adaptive_content": False,
        "agents_context": "excluded",
        "created_at": format_time(at.storage.now()),
    }
    connection.execute(_TABLE.insert().values(row))
    return site_id


def _find_first_title(connection: sa.Connection, at: OrganizationRequest, spaces: tuple[str, ...]) -> str:
    title = site_content.require_space_title(connection, at.caller, at.organization_id, spaces[0]) if spaces else ""
    return title if len(title) > 1 else "Untitled site"


def _build_changes(structure: Structure, update: SiteChange) -> tuple[dict[str, Any], str | None]:
    """Return the site's new column values, and the section whose default site-space changes, if one does.

    Raises: Failure 400 for a default that the site, or the section, does not have.
    """
    names = update.model_fields_set - {"default_site_section", "default_site_space", "adaptive_content"}
    values = {name: getattr(update, name) for name in names}
    if "adaptive_content" in update.model_fields_set:
        values["adaptive_content"] = update.adaptive_content.enabled
    default = structure.find_default_section()
    if "default_site_section" in update.model_fields_set:
        default = structure.find_section(update.default_site_section)
        if default is None:
            raise Failure(400, f"defaultSiteSection: the site has no section {update.default_site_section}")
        values["default_section"] = default.id
    if "default_site_space" not in update.model_fields_set:
        return values, None
    section_id = None if default is None else str(default.id)
    if update.default_site_space not in {row.id for row in structure.list_variants(section_id)}:
        where = "the site's root" if section_id is None else f"the default section {section_id}"
        raise Failure(400, f"defaultSiteSpace: {where} has no site-space {update.default_site_space}")
    if section_id is None:
        values["default_site_space"] = update.default_site_space
    return values, section_id


def _require_free_basename(connection: sa.Connection, site_id: str, basename: str | None) -> None:
    taken = sa.select(_TABLE.c.id).where(_TABLE.c.basename == basename, _TABLE.c.id != site_id)
    if basename is not None and connection.scalar(taken) is not None:
        raise Failure(409, f"basename: another site has {basename}")


def read_site(connection: sa.Connection, at: SiteRequest, share_key: str | None = None) -> dict[str, Any]:
    """Return a site that exists as the API shows it; `share_key` is one that opens it, or None."""
    return serialize_site(
        at.request, at.caller, connection.execute(_SITE_COLUMNS.where(_TABLE.c.id == at.site_id)).one(), share_key
    )


def serialize_site(request: Request, caller: Caller, row: sa.Row[Any], share_key: str | None = None) -> dict[str, Any]:
    """Return a site as the API shows it, from its row."""
    proxied = {} if row.proxy is None else {"proxy": _build_proxy(request, row)}
    return {
        "object": "site",
        "id": row.id,
        "type": row.type,
        "appliedType": row.type,
        "title": row.title,
        **({"icon": row.favicon} if row.favicon else {}),
        "basename": row.basename,
        **proxied,
        "visibility": row.visibility,
        "defaultLevel": _DEFAULT_LEVEL,
        "permissions": _build_permissions(caller, row),
        "published": row.published,
        "siteSpaces": row.site_space_count,
        "createdAt": row.created_at,
        "adaptiveContent": {"enabled": row.adaptive_content},
        "agentsContext": row.agents_context,
        "features": [{"id": id, "plan": _FEATURE_PLAN, "frozen": False} for id in _list_features(row)],
        "urls": {
            "location": addresses.build_api_url(request, f"/orgs/{row.organization}/sites/{row.id}"),
            "app": addresses.build_app_url(request, f"/o/{row.organization}/sites/{row.id}"),
            "preview": addresses.build_app_url(request, f"/preview/{row.id}/"),
            **build_published_urls(request, row, share_key),
        },
    }


def _build_permissions(caller: Caller, row: sa.Row[Any]) -> dict[str, bool]:
    """What the caller may do with a site; a content token views it, and that is all. Source: @gitbook/api 0.202.0."""
    role = None if caller.grant is not None else caller.find_role(row.organization)
    return {"view": True} | {name: is_role_at_least(role, needed) for name, needed in _PERMISSIONS.items()}


def _build_proxy(request: Request, row: sa.Row[Any]) -> dict[str, str]:
    return {"origin": row.proxy, "target": addresses.build_published_url(request, row.basename)}


def _list_features(row: sa.Row[Any]) -> list[str]:
    """Return the ids of the features that a site uses. Source: @gitbook/api 0.146.0."""
    used = {
        "sites-adaptive-content": row.adaptive_content,
        "sites-advanced-customization": bool((row.advanced or {}).get("enabled")),
        "sites-custom-subdirectory": row.proxy is not None,
        "sites-share-links": row.visibility == "share-link",
        "sites-unlisted-visibility": row.visibility == "unlisted",
        "sites-visitor-authentication": row.visibility == "visitor-auth",
    }
    return [id for id, in_use in used.items() if in_use]
