"""The schema of a site's visitors: what a site may know about them, and the conditions that this suggests."""

from typing import Any

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.adaptive import (
    UNSIGNED,
    UNSIGNED_DESCRIPTION,
    SiteAdaptiveSchema,
    SiteAdaptiveSchemaWrite,
    TemplateConditions,
    find_claims,
    suggest_conditions,
)
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.failures import Failure
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.schema.publish import adaptive_schemas
from syncd.platform.sites.structure import AtSite
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/sites/{site_id}/adaptive-schema", tags=["sites"])


class SchemaOfVisitors(RequestBody, SiteAdaptiveSchemaWrite):
    """Body of `PUT …/adaptive-schema`."""


@router.get("", response_model=SiteAdaptiveSchema, openapi_extra=declare_role("read"))
def get_site_adaptive_schema(at: AtSite) -> JSONResponse:
    """Return the visitor schema of a site. Raises: Failure 404 when it has none."""
    with at.storage.read() as connection:
        at.require_site(connection)
        row = _find_schema(connection, at.site_id)
    if row is None:
        raise Failure(404, f"Site {at.site_id} has no adaptive schema.")
    return answers.ok(_serialize_schema(row.json_schema, row.updated_at))


@router.put("", response_model=SiteAdaptiveSchema, openapi_extra=declare_role("create"))
def update_site_adaptive_schema(at: AtSite, body: SchemaOfVisitors) -> JSONResponse:
    """Replace the visitor schema of a site, and return it. Raises: Failure 400 when it is no JSON Schema of
    visitors.
    """
    _check_schema(body.json_schema)
    row = {
        "site": at.site_id,
        "json_schema": _describe_unsigned_claims(body.json_schema),
        "updated_at": format_time(at.storage.now()),
    }
    with at.storage.write() as connection:
        at.require_site(connection)
        upsert(connection, adaptive_schemas, [row], key=("site",))
    return answers.ok(_serialize_schema(row["json_schema"], row["updated_at"]))


@router.get("/template-conditions", response_model=TemplateConditions, openapi_extra=declare_role("read"))
def list_site_adaptive_template_conditions(at: AtSite) -> JSONResponse:
    """List a condition for each claim of a site's visitor schema; without a schema there are none."""
    with at.storage.read() as connection:
        at.require_site(connection)
        row = _find_schema(connection, at.site_id)
    claims = () if row is None else find_claims(row.json_schema)
    return answers.ok({"items": [condition.wire() for condition in suggest_conditions(claims)]})


def _describe_unsigned_claims(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with the description that the product gives unsigned claims; the document's sample has none."""
    unsigned = schema["properties"].get(UNSIGNED)
    if unsigned is None:
        return schema
    described = {"description": UNSIGNED_DESCRIPTION, **unsigned}
    return {**schema, "properties": {**schema["properties"], UNSIGNED: described}}


def _check_schema(schema: dict[str, Any]) -> None:
    """Raises: Failure 400. Only closed shapes without `$ref` pass the first check, so the second follows no address."""
    # Slow to import, and needed by this one operation only.
    from jsonschema import Draft7Validator
    from jsonschema.exceptions import SchemaError

    try:
        find_claims(schema)
        Draft7Validator.check_schema(schema)
    except ValueError as problem:
        raise Failure(400, str(problem)) from None
    except SchemaError as problem:
        raise Failure(400, f"{problem.json_path.replace('$', 'jsonSchema', 1)}: is not JSON Schema draft-07") from None


def _find_schema(connection: sa.Connection, site_id: str) -> sa.Row[Any] | None:
    return connection.execute(sa.select(adaptive_schemas).where(adaptive_schemas.c.site == site_id)).one_or_none()


def _serialize_schema(schema: Any, updated_at: Any) -> dict[str, Any]:
    return {"object": "site-adaptive-schema", "jsonSchema": schema, "updatedAt": updated_at}
