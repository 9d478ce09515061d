"""Translations of an organization: what is translated into what, and the runs that do it."""

from typing import Any

import sqlalchemy as sa
from fastapi import Response
from fastapi.responses import JSONResponse

from syncd.model.listing import Listing
from syncd.model.translation import Translation, TranslationCreate, TranslationUpdate
from syncd.platform.http import addresses, answers, rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.listing import Paging
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role, is_role_at_least
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Draft, open_outline
from syncd.platform.schema.translations import translations
from syncd.platform.services.translations.runs import request_run
from syncd.platform.spaces import parents
from syncd.platform.spaces.order_keys import Container
from syncd.platform.spaces.spaces import insert_space, require_space
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/translations", tags=["translations"])

TITLE_MAX = 50
"""Of a space. Source: @gitbook/api 0.146.0."""

_TABLE = translations
_NONE = ("run_failures", "run_pages", "run_words", "runs", "total_pages", "total_words", "total_ms")


class TranslationNew(RequestBody, TranslationCreate):
    """Body of `POST …/translations`."""


class TranslationChange(RequestBody, TranslationUpdate):
    """Body of `PUT …/translations/{translationId}`."""


@router.get("", response_model=Listing[Translation], openapi_extra=declare_role("read"))
def list_translations(at: AtOrganization, paging: Paging) -> JSONResponse:
    """List the translations of an organization, oldest first."""
    query = sa.select(_TABLE).where(_TABLE.c.organization == at.organization_id)
    with at.storage.read() as connection:
        at.require_organization(connection)
        envelope = paging.paginate_rows(connection, query, _TABLE.c.created_at, _TABLE.c.id)
    return answers.ok(envelope | {"items": [_serialize_translation(at, row) for row in envelope["items"]]})


@router.post("", response_model=Translation, status_code=201, openapi_extra=declare_role("create"))
def create_translation(at: AtOrganization, body: TranslationNew) -> JSONResponse:
    """Create a translation of a space: a copy of the space, whose pages a run then translates.

    Raises: Failure 400 for a space that the caller cannot read, or that is in that language already.
    """
    instructions = (
        rich_text.check_document(body.instructions, at="instructions") if body.instructions is not None else None
    )
    id, now = at.storage.new_id(), format_time(at.storage.now())
    with at.storage.write() as connection:
        at.require_organization(connection)
        source = _require_source(at, connection, body)
        language = body.source.language or source.language
        if language == body.language:
            raise Failure(400, "language: is the language that the space is written in")
        result, first = _copy_space(at, connection, source, body.language)
        row = {"id": id, "organization": at.organization_id, "source": source.id, "source_language": language}
        row |= {"language": body.language, "instructions": instructions, "result": result}
        row |= {"result_revision": first, "bare": first, "status": "pending", "again": False, **dict.fromkeys(_NONE, 0)}
        row |= {"created_by": at.caller.user_id, "created_at": now, "updated_at": now}
        connection.execute(_TABLE.insert().values(row))
        request_run(connection, at.storage, id)
        return answers.created_resource(_serialize_translation(at, _require_translation(at, connection, id)))


@router.get("/{translation_id}", response_model=Translation, openapi_extra=declare_role("read"))
def get_translation(at: AtOrganization, translation_id: str) -> JSONResponse:
    """Return a translation."""
    with at.storage.read() as connection:
        at.require_organization(connection)
        return answers.ok(_serialize_translation(at, _require_translation(at, connection, translation_id)))


@router.put("/{translation_id}", response_model=Translation, openapi_extra=declare_role("create"))
def update_translation(at: AtOrganization, translation_id: str, body: TranslationChange) -> JSONResponse:
    """Change the instructions of a translation, and return it; the next run translates every page by them."""
    instructions = rich_text.check_document(body.instructions, at="instructions")
    with at.storage.write() as connection:
        at.require_organization(connection)
        row = _require_translation(at, connection, translation_id)
        changed = _TABLE.update().where(_TABLE.c.id == row.id)
        connection.execute(changed.values(instructions=instructions, updated_at=format_time(at.storage.now())))
        return answers.ok(_serialize_translation(at, _require_translation(at, connection, row.id)))


@router.delete("/{translation_id}", status_code=204, openapi_extra=declare_role("create"))
def delete_translation(at: AtOrganization, translation_id: str) -> Response:
    """Delete a translation; the translated space stays, as people may have worked on it."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        mine = _TABLE.delete().where(_TABLE.c.id == translation_id, _TABLE.c.organization == at.organization_id)
        connection.execute(mine)
    return answers.no_content()


@router.post("/{translation_id}/run", status_code=204, openapi_extra=declare_role("create"))
def run_translation(at: AtOrganization, translation_id: str) -> Response:
    """Translate what changed since the last run; a request during a run makes it run once more."""
    with at.storage.write() as connection:
        at.require_organization(connection)
        request_run(connection, at.storage, _require_translation(at, connection, translation_id).id)
    return answers.no_content()


def _require_source(at: OrganizationRequest, connection: sa.Connection, body: TranslationNew) -> sa.Row[Any]:
    try:
        row = require_space(connection, at.caller, body.source.space, needed="read")
    except Failure as refused:
        # The organization's own status is settled by now, and the document gives 400 for whatever else is wrong.
        raise Failure(400, f"source.space: {refused.message}") from refused
    if row.organization != at.organization_id:
        raise Failure(400, "source.space: is in another organization")
    return row


def _copy_space(
    at: OrganizationRequest, connection: sa.Connection, source: sa.Row[Any], language: str
) -> tuple[str, str]:
    """The ids of a new space beside the source, with the same content, and of its first revision."""
    parents.require_container(connection, at.caller, Container(at.organization_id, source.parent))
    ending = f" ({language})"
    values = {name: getattr(source, name) for name in ("parent", "emoji", "default_level")}
    values |= {"title": source.title[: TITLE_MAX - len(ending)] + ending, "language": language}
    root = revisions.require_revision(connection, source.id, source.revision).root
    draft, by = Draft(open_outline(connection, root)), at.caller.user_id
    id, saved = insert_space(at.storage, connection, draft, organization=at.organization_id, by=by, **values)
    return id, saved.id


def _require_translation(at: OrganizationRequest, connection: sa.Connection, translation_id: str) -> sa.Row[Any]:
    mine = sa.select(_TABLE).where(_TABLE.c.id == translation_id, _TABLE.c.organization == at.organization_id)
    row = connection.execute(mine).one_or_none()
    if row is None:
        raise Failure(404, f"No translation {translation_id} in organization {at.organization_id}.")
    return row


def _serialize_translation(at: OrganizationRequest, row: sa.Row[Any]) -> dict[str, Any]:
    latest = {"latestRunDuration": row.latest_ms, "latestPages": row.latest_pages, "latestWords": row.latest_words}
    role = at.caller.find_role(row.organization)
    return {
        "object": "translation",
        "id": row.id,
        "status": row.status,
        "source": {"space": row.source, **({"language": row.source_language} if row.source_language else {})},
        "language": row.language,
        "instructions": row.instructions or rich_text.EMPTY,
        "result": {"space": row.result, "revision": row.result_revision, "language": row.language},
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "stats": {
            "runs": row.runs,
            "totalWords": row.total_words,
            "totalPages": row.total_pages,
            "totalDuration": row.total_ms,
            **{name: value or 0 for name, value in latest.items()},
        },
        "permissions": {"view": is_role_at_least(role, "read"), "edit": is_role_at_least(role, "create")},
        "urls": {
            "location": addresses.build_api_url(at.request, f"/orgs/{row.organization}/translations/{row.id}"),
        },
    }
