"""Integrations, where they are installed, and what happened there."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.installation import (
    Installation,
    InstallationCreate,
    InstallationUpdate,
    IntegrationEvent,
    IntegrationEventDetail,
    PlacementUpdate,
    SiteInstallation,
    SiteInstallationCreate,
    SpaceInstallation,
    SpaceInstallationCreate,
)
from syncd.model.integration import Integration, IntegrationPublish
from syncd.model.listing import Listing


class Integrations:
    """Operations on integrations.

    Source: API document, Integrations; those on one installation: @gitbook/api 0.146.0.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listIntegrations")
    def list(
        self,
        *,
        search: str | None = None,
        category: str | None = None,
        block_domain: str | None = None,
        blocks: bool | None = None,
        content_sources: bool | None = None,
        owner: str | None = None,
        scope: str | None = None,
        target: str | None = None,
    ) -> Iterator[Integration]:
        """Return every integration that all filters let through."""
        params = {
            "search": search,
            "category": category,
            "blockDomain": block_domain,
            "blocks": blocks,
            "contentSources": content_sources,
            "owner": owner,
            "scope": scope,
            "target": target,
        }
        return iterate_list(self._transport, ("integrations",), Listing[Integration], params=params)

    @operation("getIntegrationByName")
    def get(self, name: str) -> Integration:
        """Return an integration by its name."""
        return self._transport.call("GET", ("integrations", name), Integration)

    @operation("publishIntegration")
    def publish(self, name: str, integration: IntegrationPublish) -> Integration:
        """Publish an integration, or its next version.

        Raises: AnswerLost when it may or may not have been published.
        """
        return self._transport.call("POST", ("integrations", name), Integration, body=integration.wire())

    @operation("unpublishIntegration")
    def unpublish(self, name: str) -> None:
        """Remove an integration; success too when it did not exist."""
        self._transport.delete(("integrations", name))

    @operation("listIntegrationEvents")
    def list_events(self, name: str) -> Iterator[IntegrationEvent]:
        """Return the events of an integration, newest first."""
        return iterate_list(self._transport, ("integrations", name, "events"), Listing[IntegrationEvent])

    @operation("getIntegrationEvent")
    def get_event(self, name: str, event_id: str) -> IntegrationEventDetail:
        """Return an event with the trace of how it was handled."""
        return self._transport.call("GET", ("integrations", name, "events", event_id), IntegrationEventDetail)

    @operation("listIntegrationInstallations")
    def list_installations(self, name: str, *, external_id: str | None = None) -> Iterator[Installation]:
        """Return the installations of an integration in all organizations."""
        path = ("integrations", name, "installations")
        return iterate_list(self._transport, path, Listing[Installation], params={"externalId": external_id})

    @operation("listIntegrationSpaceInstallations")
    def list_spaces(
        self, name: str, *, external_id: str | None = None, extended: bool | None = None
    ) -> Iterator[SpaceInstallation]:
        """Return every space that an integration is in; `extended` asks for the spaces themselves."""
        params = {"externalId": external_id, "extended": extended}
        return iterate_list(
            self._transport, ("integrations", name, "spaces"), Listing[SpaceInstallation], params=params
        )

    @operation("listIntegrationSiteInstallations")
    def list_sites(self, name: str, *, external_id: str | None = None) -> Iterator[SiteInstallation]:
        """Return every site that an integration is in."""
        path = ("integrations", name, "sites")
        return iterate_list(self._transport, path, Listing[SiteInstallation], params={"externalId": external_id})

    @operation("listOrganizationInstallations")
    def list_installed(self, organization: str) -> Iterator[Installation]:
        """Return what is installed in an organization."""
        return iterate_list(self._transport, ("orgs", organization, "installations"), Listing[Installation])

    @operation("installIntegration")
    def install(self, name: str, organization: str) -> Installation:
        """Install an integration in an organization.

        Raises: AnswerLost when it may or may not have been installed.
        """
        body = InstallationCreate(organization=organization).wire()
        return self._transport.call("POST", ("integrations", name, "installations"), Installation, body=body)

    @operation("getIntegrationInstallationById")
    def get_installation(self, name: str, installation: str) -> Installation:
        """Return an installation."""
        return self._transport.call("GET", _path(name, installation), Installation)

    @operation("updateIntegrationInstallation")
    def update_installation(self, name: str, installation: str, update: InstallationUpdate) -> Installation:
        """Change an installation, and return it."""
        return self._transport.call("PATCH", _path(name, installation), Installation, body=update.wire())

    @operation("uninstallIntegration")
    def uninstall(self, name: str, installation: str) -> None:
        """Remove an installation; success too when it did not exist."""
        self._transport.delete(_path(name, installation))

    @operation("listIntegrationInstallationSpaces")
    def list_installation_spaces(self, name: str, installation: str) -> Iterator[SpaceInstallation]:
        """Return the spaces that an installation is in."""
        return iterate_list(self._transport, _path(name, installation, "spaces"), Listing[SpaceInstallation])

    @operation("installIntegrationOnSpace")
    def install_on_space(self, name: str, installation: str, place: SpaceInstallationCreate) -> SpaceInstallation:
        """Install an integration's installation on a space."""
        path = _path(name, installation, "spaces")
        return self._transport.call("POST", path, SpaceInstallation, body=place.wire())

    @operation("getIntegrationSpaceInstallation")
    def get_space_installation(self, name: str, installation: str, space: str) -> SpaceInstallation:
        """Return an installation as it is on a space."""
        return self._transport.call("GET", _path(name, installation, "spaces", space), SpaceInstallation)

    @operation("updateIntegrationSpaceInstallation")
    def update_space_installation(
        self, name: str, installation: str, space: str, update: PlacementUpdate
    ) -> SpaceInstallation:
        """Change an installation on a space, and return it."""
        path = _path(name, installation, "spaces", space)
        return self._transport.call("PATCH", path, SpaceInstallation, body=update.wire())

    @operation("uninstallIntegrationFromSpace")
    def uninstall_from_space(self, name: str, installation: str, space: str) -> None:
        """Remove an installation from a space."""
        self._transport.delete(_path(name, installation, "spaces", space))

    @operation("listIntegrationInstallationSites")
    def list_installation_sites(self, name: str, installation: str) -> Iterator[SiteInstallation]:
        """Return the sites that an installation is in."""
        return iterate_list(self._transport, _path(name, installation, "sites"), Listing[SiteInstallation])

    @operation("installIntegrationOnSite")
    def install_on_site(self, name: str, installation: str, place: SiteInstallationCreate) -> SiteInstallation:
        """Install an integration's installation on a site."""
        path = _path(name, installation, "sites")
        return self._transport.call("POST", path, SiteInstallation, body=place.wire())

    @operation("getIntegrationSiteInstallation")
    def get_site_installation(self, name: str, installation: str, site: str) -> SiteInstallation:
        """Return an installation as it is on a site."""
        return self._transport.call("GET", _path(name, installation, "sites", site), SiteInstallation)

    @operation("updateIntegrationSiteInstallation")
    def update_site_installation(
        self, name: str, installation: str, site: str, update: PlacementUpdate
    ) -> SiteInstallation:
        """Change an installation on a site, and return it."""
        path = _path(name, installation, "sites", site)
        return self._transport.call("PATCH", path, SiteInstallation, body=update.wire())

    @operation("uninstallIntegrationFromSite")
    def uninstall_from_site(self, name: str, installation: str, site: str) -> None:
        """Remove an installation from a site."""
        self._transport.delete(_path(name, installation, "sites", site))


def _path(name: str, installation: str, *more: str) -> tuple[str, ...]:
    return ("integrations", name, "installations", installation, *more)
