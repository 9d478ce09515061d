"""Who may do what with an integration: its owners publish it, other organizations see and install what is public.

The product gives integrations tokens of their own for the lists of installations (@gitbook/api 0.146.0). The API
document says that one token does everything (Authentication 3), so here a person with the role in the owning
organization does what the product leaves to the integration itself.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends, Request

from syncd.platform.http import addresses
from syncd.platform.http.failures import Failure
from syncd.platform.people.auth import Caller, CurrentCaller, is_role_at_least
from syncd.platform.schema.integrations import installations, integrations
from syncd.platform.storage.storage import CurrentStorage, Storage

_INSTALLED = sa.select(installations, integrations.c.owner, integrations.c.details).join(
    integrations, integrations.c.name == installations.c.integration
)


@dataclass(frozen=True)
class IntegrationRequest:
    """A request about one integration: who asks, in which storage, for which integration."""

    request: Request
    storage: Storage
    caller: Caller
    name: str

    def require_visible(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the integration's row. Raises: Failure 404, also for a private one of others; 403 for guests.

        To a content token, which has the organization of its site and stands for anybody, every private one is others'.
        """
        row = find_integration(connection, self.name)
        is_member = row is not None and row.owner in self.caller.roles and self.caller.grant is None
        if row is None or (row.visibility == "private" and not is_member):
            raise Failure(404, f"No integration {self.name}.")
        if row.visibility == "private":
            self.caller.require_role_in(row.owner)
        return row

    def require_owned(self, connection: sa.Connection) -> sa.Row[Any]:
        """Return the row of an integration that the caller's organization owns.

        Raises: Failure 404 for one that the caller cannot see, 403 when it is others' or the caller's role is too weak.
        """
        row = self.require_visible(connection)
        if row.owner not in self.caller.roles:
            raise Failure(403, f"Integration {self.name} belongs to another organization.")
        self.caller.require_role_in(row.owner)
        return row

    def require_installation(self, connection: sa.Connection, installation_id: str) -> sa.Row[Any]:
        """Return an installation's row, with the owner and the details of its integration.

        It is visible to members of the organization that installed it and of the one that published it.
        Raises: Failure 404 when the caller is in neither of them, 403 when the caller's role is too weak in both.
        """
        row = self.find_installation(connection, installation_id)
        if row is None:
            raise Failure(404, f"No installation {installation_id} of integration {self.name}.")
        return row

    def find_installation(self, connection: sa.Connection, installation_id: str) -> sa.Row[Any] | None:
        """Return an installation's row as `require_installation` does, or None where that raises 404."""
        mine = (installations.c.id == installation_id, installations.c.integration == self.name)
        row = connection.execute(_INSTALLED.where(*mine)).one_or_none()
        where = () if row is None else tuple(one for one in (row.organization, row.owner) if one in self.caller.roles)
        if not where:
            return None
        if not any(is_role_at_least(self.caller.find_role(one), self.caller.needed) for one in where):
            self.caller.require_role_in(where[0])
        return row

    def require_installer(self, installation: sa.Row[Any]) -> None:
        """Require the caller's role in the organization that installed the integration: only it may extend its reach.

        Who published the integration must not give it more. Raises: Failure 403.
        """
        self.caller.require_role_in(installation.organization)

    def build_url(self, path: str = "") -> str:
        """Return the absolute address in the API of a path below the integration."""
        return addresses.build_api_url(self.request, f"/integrations/{self.name}{path}")


async def _read_integration_request(
    request: Request, storage: CurrentStorage, caller: CurrentCaller, integration_name: str
) -> IntegrationRequest:
    return IntegrationRequest(request, storage, caller, integration_name)


AtIntegration = Annotated[IntegrationRequest, Depends(_read_integration_request)]
"""A handler's parameter for an operation below `/integrations/{integrationName}`."""


def find_integration(connection: sa.Connection, name: str) -> sa.Row[Any] | None:
    """Return the row of the integration with a name, whoever asks; None without one."""
    return connection.execute(sa.select(integrations).where(integrations.c.name == name)).one_or_none()
