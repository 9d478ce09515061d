"""Customization: how a site looks, and what a site-space has of its own in place of that."""

from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.customization import SiteCustomizationSettings
from syncd.model.customization_override import SiteSpaceCustomizationOverride


class Customization:
    """Operations on the settings of sites and site-spaces. Source: API document, Site customization."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("getSiteCustomizationById")
    def get(self, organization: str, site: str) -> SiteCustomizationSettings:
        """Return the settings of a site (deprecated)."""
        return self._transport.call("GET", _path(organization, site), SiteCustomizationSettings)

    @operation("updateSiteCustomizationById")
    def update(self, organization: str, site: str, settings: SiteCustomizationSettings) -> SiteCustomizationSettings:
        """Replace all settings of a site, and return them as they are stored.

        Shape: `settings` are best those that `get` answered, amended: they go back with every member that came along,
        also those that this version does not know, since a PUT takes away what it does not name.
        """
        return self._transport.call("PUT", _path(organization, site), SiteCustomizationSettings, body=settings.wire())

    @operation("getSiteSpaceCustomizationById")
    def get_site_space(self, organization: str, site: str, site_space: str) -> SiteCustomizationSettings:
        """Return the settings that visitors of a site-space see (deprecated)."""
        path = _path(organization, site, "site-spaces", site_space)
        return self._transport.call("GET", path, SiteCustomizationSettings)

    @operation("overrideSiteSpaceCustomizationById")
    def override(
        self, organization: str, site: str, site_space: str, change: SiteSpaceCustomizationOverride
    ) -> SiteCustomizationSettings:
        """Set a site-space's own settings, and return the settings that its visitors see."""
        path = _path(organization, site, "site-spaces", site_space)
        return self._transport.call("PATCH", path, SiteCustomizationSettings, body=change.wire())

    @operation("deleteSiteSpaceCustomizationById")
    def delete_override(self, organization: str, site: str, site_space: str) -> None:
        """Delete a site-space's own settings, so that it has all of them from its site."""
        self._transport.delete(_path(organization, site, "site-spaces", site_space))


def _path(organization: str, site: str, *rest: str) -> tuple[str, ...]:
    return ("orgs", organization, "sites", site, *rest, "customization")
