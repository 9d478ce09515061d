"""How visitors of a site are let in: the key that signs their tokens, and where one without a token is sent."""

from typing import Annotated, Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse
from pydantic import Field

from syncd.model.base import Declared, Observed
from syncd.model.web_address import WebAddress
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.publish import publishing_auth
from syncd.platform.sites.structure import AtSite, SiteRequest
from syncd.platform.storage.times import format_time
from syncd.platform.visitors.claims import derive_site_key

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/publishing/auth", tags=["site-publishing-auth"])

_ROLE = declare_role("admin", extension=True)


class SitePublishingAuth(Observed):
    """How visitors of a site are let in (beyond the API document: @gitbook/api 0.146.0).

    Shape: `private_key` signs their JSON Web Tokens, with HS256; `backend` is who does it.
    """

    object: str = "site-publishing-auth"
    backend: str
    private_key: str
    fallback_url: str | None = Field(default=None, alias="fallbackURL")


class PublishingAuthChange(RequestBody, Declared):
    """Body of `PATCH …/publishing/auth`: unset is unchanged, null removes."""

    fallback_url: Annotated[WebAddress | None, Field(alias="fallbackURL")] = None


@router.get("", response_model=SitePublishingAuth, openapi_extra=_ROLE)
def get_site_publishing_auth_by_id(at: AtSite) -> JSONResponse:
    """Return the key that signs the tokens of a site's visitors, and where one without a token is sent."""
    with at.storage.read() as connection:
        at.require_site(connection)
        return answers.ok(_serialize_auth(connection, at))


@router.patch("", response_model=SitePublishingAuth, openapi_extra=_ROLE)
def update_site_publishing_auth_by_id(at: AtSite, change: PublishingAuthChange) -> JSONResponse:
    """Change where visitors without a token are sent; they come back with one."""
    with at.storage.write() as connection:
        at.require_site(connection)
        if change.model_fields_set:
            _save_settings(
                connection, at, {"generation": _read_settings(connection, at)[0], "fallback_url": change.fallback_url}
            )
        return answers.ok(_serialize_auth(connection, at))


@router.post("/regenerate", response_model=SitePublishingAuth, openapi_extra=_ROLE)
def regenerate_site_publishing_auth_by_id(at: AtSite) -> JSONResponse:
    """Make a new key, so that tokens which were signed with the former one let nobody in any more."""
    with at.storage.write() as connection:
        at.require_site(connection)
        generation, fallback_url = _read_settings(connection, at)
        _save_settings(connection, at, {"generation": generation + 1, "fallback_url": fallback_url})
        return answers.ok(_serialize_auth(connection, at))


def _read_settings(connection: sa.Connection, at: SiteRequest) -> tuple[int, str | None]:
    table = publishing_auth
    row = connection.execute(sa.select(table).where(table.c.site == at.site_id)).one_or_none()
    return (0, None) if row is None else (row.generation, row.fallback_url)


def _save_settings(connection: sa.Connection, at: SiteRequest, values: dict[str, Any]) -> None:
    row = {"site": at.site_id, **values, "updated_at": format_time(at.storage.now())}
    upsert(connection, publishing_auth, [row], key=("site",))


def _serialize_auth(connection: sa.Connection, at: SiteRequest) -> dict[str, Any]:
    generation, fallback_url = _read_settings(connection, at)
    key = derive_site_key(at.storage.secret, at.site_id, generation)
    shown = {"object": "site-publishing-auth", "backend": "custom", "privateKey": key}
    return shown | ({} if fallback_url is None else {"fallbackURL": fallback_url})
