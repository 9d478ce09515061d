"""Organizations: the owners of spaces and sites."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.agent_instructions import AgentInstructions, AgentInstructionsWrite
from syncd.model.listing import Listing
from syncd.model.member import JoinableOrganization
from syncd.model.organization import Organization, OrganizationCreate, OrganizationUpdate
from syncd.model.subdomain import Subdomain


class Organizations:
    """Operations on organizations. Source: API document, Organizations; those beyond it say so."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listOrganizationsForAuthenticatedUser")
    def list(self) -> Iterator[Organization]:
        """Return every organization of the token's user."""
        return iterate_list(self._transport, ("orgs",), Listing[Organization])

    @operation("getOrganizationById")
    def get(self, organization: str) -> Organization:
        """Return an organization."""
        return self._transport.call("GET", ("orgs", organization), Organization)

    @operation("createOrganization")
    def create(self, organization: OrganizationCreate) -> Organization:
        """Create an organization that the token's user administrates, and return it. Beyond the document.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", ("orgs",), Organization, body=organization.wire())

    @operation("updateOrganizationById")
    def update(self, organization: str, changes: OrganizationUpdate) -> Organization:
        """Change an organization, and return it."""
        return self._transport.call("PATCH", ("orgs", organization), Organization, body=changes.wire())

    @operation("joinOrganization")
    def join(self, organization: str) -> None:
        """Join an organization that welcomes the user's verified e-mail domain."""
        self._transport.send("POST", ("orgs", organization, "join"))

    @operation("listOrganizationsByEmailDomain")
    def list_by_email_domain(self, domain: str) -> Iterator[JoinableOrganization]:
        """Return the organizations that welcome the user's verified e-mail domain. Beyond the document."""
        return iterate_list(self._transport, ("email-domains", domain, "orgs"), Listing[JoinableOrganization])

    @operation("getSubdomain")
    def get_subdomain(self, subdomain: str) -> Subdomain:
        """Return what a subdomain of one of the user's organizations leads to. Beyond the document."""
        return self._transport.call("GET", ("subdomains", subdomain), Subdomain)

    @operation("getOrganizationAgentInstructions")
    def get_agent_instructions(self, organization: str) -> AgentInstructions:
        """Return the instructions of an organization for its agents."""
        return self._transport.call("GET", ("orgs", organization, "agent-instructions"), AgentInstructions)

    @operation("updateOrganizationAgentInstructions")
    def update_agent_instructions(self, organization: str, instructions: AgentInstructionsWrite) -> AgentInstructions:
        """Replace the instructions of an organization for its agents, and return them."""
        path = ("orgs", organization, "agent-instructions")
        return self._transport.call("PUT", path, AgentInstructions, body=instructions.wire())
