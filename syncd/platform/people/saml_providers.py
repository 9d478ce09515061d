"""Which SAML providers people can sign in with: complete ones, whose certificate is still valid."""

import sqlalchemy as sa

from syncd.platform.schema.people import saml_providers

_TABLE = saml_providers


def match_active_providers(now: str) -> sa.ColumnElement[bool]:
    """Return the condition for a provider to be active at a time: complete, with a valid certificate."""
    present = (column.is_not(None) for column in (_TABLE.c.sso_url, _TABLE.c.entity_id, _TABLE.c.certificate))
    return sa.and_(*present, _TABLE.c.certificate_expires_at > now)


def find_active_providers(connection: sa.Connection, organization_id: str, now: str) -> set[str]:
    """Return the ids of an organization's providers that are active at a time."""
    mine = sa.select(_TABLE.c.id).where(_TABLE.c.organization == organization_id, match_active_providers(now))
    return set(connection.scalars(mine))
