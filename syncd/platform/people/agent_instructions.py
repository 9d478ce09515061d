"""Agent instructions: what an organization wants its agents to heed, as one document."""

import sqlalchemy as sa
from fastapi.responses import JSONResponse

from syncd.model.agent_instructions import AgentInstructions, AgentInstructionsWrite
from syncd.platform.database.tables import upsert
from syncd.platform.http import answers, rich_text
from syncd.platform.http.bodies import RequestBody
from syncd.platform.http.routing import create_router
from syncd.platform.people.auth import declare_role
from syncd.platform.people.organizations import AtOrganization, OrganizationRequest
from syncd.platform.schema.people import agent_instructions
from syncd.platform.storage.times import format_time

router = create_router(prefix="/orgs/{organization_id}/agent-instructions", tags=["organizations"])


class AgentInstructionsChange(RequestBody, AgentInstructionsWrite):
    """Body of `PUT …/agent-instructions`."""


@router.get("", response_model=AgentInstructions, openapi_extra=declare_role("read"))
def get_organization_agent_instructions(at: AtOrganization) -> JSONResponse:
    """Return the agent instructions of an organization: an empty document while nobody wrote any."""
    with at.storage.read() as connection:
        return _answer_agent_instructions(connection, at, since=at.require_organization(connection).created_at)


@router.put("", response_model=AgentInstructions, openapi_extra=declare_role("admin"))
def update_organization_agent_instructions(at: AtOrganization, body: AgentInstructionsChange) -> JSONResponse:
    """Replace the agent instructions of an organization, and return them."""
    row = {
        "organization": at.organization_id,
        "instructions": rich_text.check_document(body.instructions, at="instructions"),
        "updated_at": format_time(at.storage.now()),
        "updated_by": at.caller.user_id,
    }
    with at.storage.write() as connection:
        since = at.require_organization(connection).created_at
        upsert(connection, agent_instructions, [row], key=("organization",))
        return _answer_agent_instructions(connection, at, since=since)


def _answer_agent_instructions(connection: sa.Connection, at: OrganizationRequest, *, since: str) -> JSONResponse:
    table = agent_instructions
    row = connection.execute(sa.select(table).where(table.c.organization == at.organization_id)).one_or_none()
    return answers.ok(
        {
            "object": "agent-instructions",
            "instructions": rich_text.EMPTY if row is None else row.instructions,
            # Clients expect these, too, while nobody wrote any: empty since there is an organization.
            "updatedAt": since if row is None else row.updated_at,
            "updatedBy": "" if row is None else row.updated_by,
            "urls": {"location": at.build_url("/agent-instructions")},
        }
    )
