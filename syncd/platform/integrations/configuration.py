"""Configurations: what an installation is told, held against what its integration asks for."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter, ValidationError

from syncd.model.integration import ConfigurationComponent, Configurations, ConfigurationSchema
from syncd.model.web_address import WebAddress
from syncd.platform.http.failures import Failure
from syncd.platform.integrations.events import WEBHOOK_SECRET, WEBHOOK_URL
from syncd.platform.schema.integrations import external_ids

DEPTH_MAX = 16
VALUES_MAX = 1000
CHARACTERS_MAX = 100_000
"""Of a configuration whose shape is the integration's own."""

_ADDRESS: TypeAdapter[str] = TypeAdapter(WebAddress)


def complete_configuration(
    details: Mapping[str, Any], level: str, configuration: Mapping[str, Any], *, above: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], bool]:
    """Return a configuration with the defaults of the integration's schema filled in, and whether it is complete.

    Shape: `details` are the integration's; `level` is account, space or site; `above` is, for a space or a site, the
    configuration of the account. Raises: Failure 400 for a value that the schema does not have or allow.
    """
    schema = _find_schema(details, level)
    if isinstance(schema, ConfigurationComponent):
        _check_bounds(configuration)
        complete, missing = dict(configuration), False
    else:
        complete, missing = _complete_by_schema(schema, configuration)
    _check_webhook({**(above or {}), **complete})
    return complete, not missing


def compute_status(*, former: str, requested: str | None, complete: bool) -> str:
    """Return the next status of an installation: pending until its configuration is complete, else what was
    requested.
    """
    if not complete:
        return "pending"
    wanted = requested or former
    return "paused" if wanted == "paused" else "active"


def replace_external_ids(
    connection: sa.Connection, ids: list[str], *, installation: str, placement: str | None = None
) -> list[str]:
    """Replace the external ids by which an installation, or a placement of it, is found; return each of them once."""
    once, of = list(dict.fromkeys(ids)), placement or installation
    connection.execute(external_ids.delete().where(external_ids.c.of == of))
    rows = [{"value": id, "of": of, "installation": installation, "placement": placement} for id in once]
    if rows:
        connection.execute(external_ids.insert(), rows)
    return once


def _find_schema(details: Mapping[str, Any], level: str) -> ConfigurationSchema | ConfigurationComponent:
    said: ConfigurationSchema | ConfigurationComponent = getattr(
        Configurations.model_validate(details.get("configurations", {})), level
    )
    return said


def _complete_by_schema(schema: ConfigurationSchema, configuration: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    for name, value in configuration.items():
        known = schema.properties.get(name)
        if known is None:
            # Names come from outside and may be long: only those that the integration knows are repeated.
            raise Failure(400, "configuration: has a property that the integration does not ask for")
        if problem := known.find_problem(value):
            raise Failure(400, f"configuration.{name}: {problem}")
    defaults = {name: one.default for name, one in schema.properties.items() if "default" in one.model_fields_set}
    complete = {**defaults, **configuration}
    return complete, any(name not in complete for name in schema.required)


def _check_bounds(configuration: Mapping[str, Any]) -> None:
    level: list[Any] = [*configuration, *configuration.values()]
    values = characters = 0
    for _ in range(DEPTH_MAX):
        values += len(level)
        characters += sum(len(value) for value in level if isinstance(value, str))
        if values > VALUES_MAX or characters > CHARACTERS_MAX:
            raise Failure(400, f"configuration: more than {VALUES_MAX} values or {CHARACTERS_MAX} characters")
        if any(isinstance(value, float) and not isfinite(value) for value in level):
            raise Failure(400, "configuration: has a number that JSON cannot say")
        inner = [value for value in level if isinstance(value, dict | list)]
        level = [each for value in inner for each in ((*value, *value.values()) if isinstance(value, dict) else value)]
        if not level:
            return
    raise Failure(400, f"configuration: nested deeper than {DEPTH_MAX}")


def _check_webhook(configuration: Mapping[str, Any]) -> None:
    url, secret = configuration.get(WEBHOOK_URL), configuration.get(WEBHOOK_SECRET)
    if not url:
        return
    try:
        _ADDRESS.validate_python(url)
    except ValidationError:
        raise Failure(400, f"configuration.{WEBHOOK_URL}: must be an http or https address") from None
    if not isinstance(secret, str) or not secret:
        raise Failure(400, f"configuration.{WEBHOOK_SECRET}: is needed to sign what is sent to {WEBHOOK_URL}")
