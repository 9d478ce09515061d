"""Sites: published docs, made of site-spaces or of sections that hold them."""

import re
from typing import Annotated, Any, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import AfterValidator, Field

from syncd.model.base import Declared
from syncd.model.site import SiteCreate
from syncd.platform import addresses, answers, schema, site_content, site_spaces
from syncd.platform.failures import Failure
from syncd.platform.listing import Paging
from syncd.platform.organizations import AtOrganization, OrganizationRequest
from syncd.platform.structure import AtSite, SiteRequest, Structure, free_path
from syncd.platform.times import iso

router = APIRouter(prefix="/orgs/{organization_id}/sites", tags=["sites"])

SiteType = Literal["basic", "premium", "ultimate", "sponsored", "legacy-basic", "legacy-premium"]
SiteVisibility = Literal["public", "unlisted", "share-link", "visitor-auth"]

_TABLE = schema.sites
_BASENAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?")
_PROXY = re.compile(r"([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(/[\w-]+)+", re.ASCII)
_COUNT = (
    sa.select(sa.func.count())
    .select_from(schema.site_spaces)
    .where(schema.site_spaces.c.site == _TABLE.c.id)
    .scalar_subquery()
    .label("site_space_count")
)


def _basename(text: str) -> str:
    if not _BASENAME.fullmatch(text):
        raise ValueError("must be 1 to 100 lower-case letters, digits or inner hyphens")
    return text


def _proxy(text: str) -> str:
    if not _PROXY.fullmatch(text):
        raise ValueError("must be a host name and a path, such as example.com/docs")
    return text


class AdaptiveContent(Declared):
    """Whether pages may differ by visitor."""

    enabled: bool


class SiteNew(SiteCreate):
    """Body of `POST …/sites`, with the values that the members may have. Source: not-shown.md (d), Sites."""

    type: SiteType = "basic"
    visibility: SiteVisibility = "public"
    spaces: tuple[str, ...] = ()


class SiteUpdate(Declared):
    """Body of `PATCH …/sites/{siteId}`: unset is unchanged; a null proxy is removed."""

    title: str = Field(default="", min_length=2, max_length=128)
    visibility: SiteVisibility = "public"
    basename: Annotated[str, AfterValidator(_basename)] = ""
    adaptive_content: AdaptiveContent = AdaptiveContent(enabled=False)
    agents_context: Literal["excluded", "included"] = "excluded"
    default_site_space: str = ""
    default_site_section: str = ""
    proxy: Annotated[str, Field(max_length=512), AfterValidator(_proxy)] | None = None


async def _filters(
    space: str | None = None,
    title: str | None = None,
    published: bool | None = None,
    type: Annotated[list[str] | None, Query()] = None,
) -> list[sa.ColumnElement[bool]]:
    # The filters' names are not in the document. Source: not-shown.md (b), line 322. That `title` is a part of the
    # title, in any letter case, is what the sources leave open.
    linked = schema.site_spaces
    having = sa.select(linked.c.site).where(linked.c.space == space)
    filters = {
        _TABLE.c.id.in_(having): space,
        _TABLE.c.title.icontains(title or "", autoescape=True): title,
        _TABLE.c.published.is_(published): published,
        _TABLE.c.type.in_(type or ()): type,
    }
    return [condition for condition, given in filters.items() if given is not None]


@router.get("")
def list_sites(
    at: AtOrganization, paging: Paging, filters: Annotated[list[sa.ColumnElement[bool]], Depends(_filters)]
) -> JSONResponse:
    """Given an organization, return its sites, oldest first; every filter given must hold."""
    query = sa.select(_TABLE, _COUNT).where(_TABLE.c.organization == at.organization_id, *filters)
    with at.storage.read() as connection:
        at.require(connection)
        envelope = paging.rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_shown(at.request, row) for row in envelope["items"]]})


@router.post("", status_code=201)
def create_site(at: AtOrganization, create: SiteNew) -> JSONResponse:
    """Given what a site should be, create it, unpublished, with the spaces named as its site-spaces."""
    with at.storage.write() as connection:
        at.require(connection)
        site_id = _insert(connection, at, create)
        new = SiteRequest.of(at, site_id)
        for space_id in create.spaces:
            site_spaces.insert(new.view(connection), section_id=None, space_id=space_id)
        shown = _read(connection, new)
    return answers.created(shown, location=new.location(""))


@router.get("/{site_id}")
def get_site_by_id(at: AtSite) -> JSONResponse:
    """Given an id, return the Site."""
    with at.storage.read() as connection:
        at.require(connection)
        return answers.ok(_read(connection, at))


@router.patch("/{site_id}")
def update_site_by_id(at: AtSite, update: SiteUpdate) -> JSONResponse:
    """Given what to change, return the changed Site."""
    with at.storage.write() as connection:
        values, held = _changes(at.load(connection), update)
        _require_free_basename(connection, at.site_id, values.get("basename"))
        if values:
            connection.execute(_TABLE.update().where(_TABLE.c.id == at.site_id).values(values))
        if held is not None:
            table = schema.sections
            chosen = {"default_site_space": update.default_site_space}
            connection.execute(table.update().where(table.c.id == held).values(chosen))
        return answers.ok(_read(connection, at))


@router.delete("/{site_id}", status_code=204)
def delete_site_by_id(at: AtOrganization, site_id: str) -> Response:
    """Given an id, delete that site with its structure and redirects; the spaces that it published stay."""
    with at.storage.write() as connection:
        at.require(connection)
        mine = (_TABLE.c.id == site_id, _TABLE.c.organization == at.organization_id)
        connection.execute(_TABLE.delete().where(*mine))
    return answers.nothing()


@router.get("/{site_id}/structure")
def get_site_structure(at: AtSite) -> JSONResponse:
    """Given a site, return its sections, or its site-spaces when it has no sections. Source: content-write §6."""
    with at.storage.read() as connection:
        view = at.view(connection)
        if view.structure.sections:
            sections = [view.section(row) for row in view.structure.sections]
            return answers.ok({"type": "sections", "structure": sections})
        variants = [view.site_space(row) for row in view.structure.site_spaces]
        return answers.ok({"type": "siteSpaces", "structure": variants})


@router.post("/{site_id}/publish")
def publish_site(at: AtSite) -> JSONResponse:
    """Given a site, open it to the audience of its visibility. Source: content-write §7."""
    return _publish(at, published=True)


@router.post("/{site_id}/unpublish")
def unpublish_site(at: AtSite) -> JSONResponse:
    """Given a site, close it to visitors. Source: content-write §7."""
    return _publish(at, published=False)


def _publish(at: SiteRequest, *, published: bool) -> JSONResponse:
    with at.storage.write() as connection:
        at.require(connection)
        connection.execute(_TABLE.update().where(_TABLE.c.id == at.site_id).values(published=published))
        return answers.ok(_read(connection, at))


def _insert(connection: sa.Connection, at: OrganizationRequest, create: SiteNew) -> str:
    site_id = at.storage.new_id()
    title = create.title or _first_title(connection, at.organization_id, create.spaces)
    # Every basename is read, which is one indexed scan for an operation that people do a few times a year.
    taken = {str(name) for name in connection.scalars(sa.select(_TABLE.c.basename))}
    row = {
        "id": site_id,
        "organization": at.organization_id,
        "type": create.type,
        "title": title,
        "basename": free_path(title, taken),
        "visibility": create.visibility,
        "published": False,
        "adaptive_content": False,
        "agents_context": "excluded",
        "created_at": iso(at.storage.now()),
    }
    connection.execute(_TABLE.insert().values(row))
    return site_id


def _first_title(connection: sa.Connection, organization_id: str, spaces: tuple[str, ...]) -> str:
    title = site_content.require_space_title(connection, organization_id, spaces[0]) if spaces else ""
    return title if len(title) > 1 else "Untitled site"


def _changes(structure: Structure, update: SiteUpdate) -> tuple[dict[str, Any], str | None]:
    """Given an update, return the site's new column values, and the section whose default changes, if one does."""
    names = update.model_fields_set - {"default_site_section", "default_site_space", "adaptive_content"}
    values = {name: getattr(update, name) for name in names}
    if "adaptive_content" in update.model_fields_set:
        values["adaptive_content"] = update.adaptive_content.enabled
    default = structure.default_section()
    if "default_site_section" in update.model_fields_set:
        default = structure.section(update.default_site_section)
        if default is None:
            raise Failure(400, f"defaultSiteSection: the site has no section {update.default_site_section}")
        values["default_section"] = default.id
    if "default_site_space" not in update.model_fields_set:
        return values, None
    section_id = None if default is None else str(default.id)
    if update.default_site_space not in {row.id for row in structure.variants(section_id)}:
        where = "the site's root" if section_id is None else f"the default section {section_id}"
        raise Failure(400, f"defaultSiteSpace: {where} has no site-space {update.default_site_space}")
    if section_id is None:
        values["default_site_space"] = update.default_site_space
    return values, section_id


def _require_free_basename(connection: sa.Connection, site_id: str, basename: str | None) -> None:
    taken = sa.select(_TABLE.c.id).where(_TABLE.c.basename == basename, _TABLE.c.id != site_id)
    if basename is not None and connection.scalar(taken) is not None:
        raise Failure(409, f"basename: another site has {basename}")


def _read(connection: sa.Connection, at: SiteRequest) -> dict[str, Any]:
    row = connection.execute(sa.select(_TABLE, _COUNT).where(_TABLE.c.id == at.site_id)).one()
    return _shown(at.request, row)


def _shown(request: Request, row: sa.Row[Any]) -> dict[str, Any]:
    read_at = addresses.published(request, row.basename)
    proxied = {} if row.proxy is None else {"proxy": {"origin": f"https://{row.proxy}", "target": read_at}}
    return {
        "object": "site",
        "id": row.id,
        "type": row.type,
        "title": row.title,
        "basename": row.basename,
        **proxied,
        "visibility": row.visibility,
        "published": row.published,
        "siteSpaces": row.site_space_count,
        "createdAt": row.created_at,
        "adaptiveContent": {"enabled": row.adaptive_content},
        "agentsContext": row.agents_context,
        "features": [],
        "urls": {
            "location": addresses.location(request, f"/orgs/{row.organization}/sites/{row.id}"),
            "app": addresses.app(request, f"/o/{row.organization}/sites/{row.id}"),
            **({"published": read_at} if row.published else {}),
        },
    }
