"""What of a site a question may be answered from: site-spaces that are published to everybody, and their open pages.

Who asks with a content token is its visitor, and reads the site-spaces of that one; anybody else is no visitor, and so
meets no condition. Pages and parts of pages that only some visitors see are left out for all.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from syncd.layout.evaluation import Variables
from syncd.model.ask import AskContext, DefaultScope, Scope, SpecificScope
from syncd.platform.http.failures import Failure
from syncd.platform.revisions import revisions
from syncd.platform.schema.content import spaces
from syncd.platform.services.ask.open_pages import PublishedSpace
from syncd.platform.sites.parts import Structure
from syncd.platform.sites.structure import (
    SiteRequest,
)
from syncd.platform.spaces import roles
from syncd.platform.spaces.granted import match_granted_spaces

_FOR_EVERYBODY = ("public", "unlisted")


def find_published_spaces(
    at: SiteRequest,
    connection: sa.Connection,
    scope: Scope,
    context: AskContext,
    *,
    member: str = "scope.siteSpaceIds",
) -> list[PublishedSpace]:
    """Return the spaces of a site in which a question is answered, in the site's order and each once.

    Shape: `member` is what the caller calls the site-spaces of a specific scope.
    Raises: Failure 400 for a site-space that the site does not have; as `SiteRequest.require_site`.
    """
    structure = at.load_structure(connection)
    visitor = Variables({}, at.caller.grant.claims or {} if at.caller.grant is not None else {})
    listed = _choose_site_spaces(structure, scope, context, member)
    chosen = [row for row in listed if _is_site_space_open(structure, row, visitor)]
    if not structure.site.published:
        return []
    rows = _find_spaces(at, connection, structure, {row.space for row in chosen})
    found: dict[str, PublishedSpace] = {}
    for row in chosen:
        space = rows.get(row.space)
        if space is not None and row.space not in found:
            outline = revisions.open_revision(connection, row.space, space.revision)
            found[row.space] = PublishedSpace(row.space, space.revision, outline, structure.compute_variant_path(row))
    return list(found.values())


def _choose_site_spaces(structure: Structure, scope: Scope, context: AskContext, member: str) -> Iterator[sa.Row[Any]]:
    if isinstance(scope, SpecificScope):
        for id in dict.fromkeys(scope.site_space_ids):
            yield _require_site_space(structure, id, member)
    elif isinstance(scope, DefaultScope):
        yield from _choose_default(structure, scope, context)
    else:
        yield from (row for row in structure.site_spaces if not row.hidden)


def _choose_default(structure: Structure, scope: DefaultScope, context: AskContext) -> Iterator[sa.Row[Any]]:
    current = None
    if scope.current_site_space is not None:
        current = _require_site_space(structure, scope.current_site_space, "scope.currentSiteSpace")
    elif context.site_space_id is not None:
        current = _require_site_space(structure, context.site_space_id, "context.siteSpaceId")
    holders: Sequence[str | None] = [None, *(row.id for row in structure.sections)]
    for holder in holders:
        row = current if current is not None and current.section == holder else structure.find_default_variant(holder)
        if row is not None and (row is current or not row.hidden):
            yield row


def _require_site_space(structure: Structure, id: str, member: str) -> sa.Row[Any]:
    row = structure.find_site_space(id)
    if row is None:
        raise Failure(400, f"{member}: the site has no site-space {id}")
    return row


def _is_site_space_open(structure: Structure, row: sa.Row[Any], visitor: Variables) -> bool:
    section = structure.find_section(row.section)
    conditions = (row.condition, section.condition if section is not None else None)
    return all(one is None or visitor.evaluate_condition(one) is True for one in conditions)


def _find_spaces(
    at: SiteRequest, connection: sa.Connection, structure: Structure, ids: set[str]
) -> dict[str, sa.Row[Any]]:
    mine = (spaces.c.id.in_(ids), spaces.c.deleted_at.is_(None), spaces.c.organization == at.organization_id)
    query: sa.Select[Any] = roles.select_spaces(spaces.c.id, spaces.c.revision).where(*mine)
    if at.caller.grant is not None:
        granted = match_granted_spaces(connection, at.caller.grant)
        query = sa.select(spaces.c.id, spaces.c.revision).where(*mine, granted)
    elif structure.site.visibility not in _FOR_EVERYBODY:
        # A site for some visitors only: a member reads of it what the member may read anyway.
        query = query.where(roles.SPACE_READABLE)
    return {row.id: row for row in connection.execute(query, {"caller": at.caller.user_id})}
