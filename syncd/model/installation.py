"""Installation, its place in a space or site, and IntegrationEvent: what organizations do with an integration.

None of them has a type name: the API document's headings print none.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.space import Space

EXTERNAL_IDS_MAX = 5
"""Source: @gitbook/api 0.146.0."""

ExternalId = Annotated[str, Field(min_length=1, max_length=255)]
Id = Annotated[str, Field(min_length=1, max_length=100)]


class InstallationCreate(Declared):
    """Body of `POST …/installations`: the organization that installs the integration."""

    organization: Id


class _Settings(Declared):
    configuration: dict[str, Any] = Field(default={}, max_length=100)
    external_ids: list[ExternalId] = Field(default=[], max_length=EXTERNAL_IDS_MAX)


class InstallationUpdate(_Settings):
    """Body of `PATCH …/installations/{installationId}`; unset is unchanged, `configuration` is replaced as a whole."""

    space_selection: Literal["all", "selected"] = Field(default="selected", alias="space_selection")
    site_selection: Literal["all", "selected"] = Field(default="selected", alias="site_selection")
    status: Literal["active", "paused"] = "active"


class SpaceInstallationCreate(_Settings):
    """Body of `POST …/installations/{installationId}/spaces`."""

    space: Id


class SiteInstallationCreate(_Settings):
    """Body of `POST …/installations/{installationId}/sites`."""

    site_id: Id


class PlacementUpdate(_Settings):
    """Body of `PATCH …/spaces/{spaceId}` and `…/sites/{siteId}`; unset is unchanged."""


class Installation(Observed):
    """An integration in an organization. Source: API document, Installation."""

    id: ObservedId
    status: str
    space_selection: str = Field(alias="space_selection")
    site_selection: str = Field(alias="site_selection")
    spaces: int | None = None
    configuration: dict[str, Any] = {}
    created_at: str
    updated_at: str
    urls: dict[str, str] = {}
    external_ids: tuple[str, ...] = ()
    target: dict[str, str] = {}


class SpaceInstallation(Observed):
    """An integration in a space. Shape: `space` is its id, or the Space when that is asked for."""

    integration: str
    installation: ObservedId
    status: str
    configuration: dict[str, Any] = {}
    external_ids: tuple[str, ...] = ()
    urls: dict[str, str] = {}
    space: ObservedId | Space


class SiteInstallation(Observed):
    """An integration in a site."""

    integration: str
    installation: ObservedId
    status: str
    configuration: dict[str, Any] = {}
    external_ids: tuple[str, ...] = ()
    urls: dict[str, str] = {}
    site: ObservedId


class EventPayload(Observed):
    """What an event says, and what a webhook is sent; further members depend on `type`."""

    event_id: ObservedId
    type: str
    installation_id: ObservedId
    status: str | None = None
    previous: dict[str, Any] | None = None
    space_id: ObservedId | None = None
    site_id: ObservedId | None = None
    revision_id: ObservedId | None = None
    previous_visibility: str | None = None
    visibility: str | None = None


class IntegrationEvent(Observed):
    """Something that happened to an installation; `status` is `success` once its webhook has it, else `failed`."""

    id: ObservedId
    integration_id: ObservedId
    installation_id: ObservedId
    created_at: str
    payload: EventPayload
    status: str | None = None


class TraceLog(Observed):
    """One thing that was done about an event."""

    message: str
    timestamp: str
    level: str


class Trace(Observed):
    """All that was done about an event, oldest first."""

    logs: tuple[TraceLog, ...]


class IntegrationEventDetail(Observed):
    """Answer of `GET …/events/{eventId}`."""

    event: IntegrationEvent
    trace: Trace
