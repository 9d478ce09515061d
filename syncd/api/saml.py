"""SSO: the services with which the members of an organization sign in."""

from collections.abc import Iterator

from syncd.api.lists import iterate_list
from syncd.api.operation import operation
from syncd.api.transport.transport import Transport
from syncd.model.listing import Listing
from syncd.model.saml import SAMLProvider, SAMLProviderCreate, SAMLProviderUpdate, SSOLogins


class Saml:
    """Operations on SAML providers. Source: API document, SSO."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @operation("listSAMLProvidersInOrganizationById")
    def list(self, organization: str) -> Iterator[SAMLProvider]:
        """Return the SAML providers of an organization."""
        return iterate_list(self._transport, _path(organization), Listing[SAMLProvider])

    @operation("createOrganizationSAMLProvider")
    def create(self, organization: str, provider: SAMLProviderCreate) -> SAMLProvider:
        """Create a provider, and return it.

        Raises: AnswerLost when it may or may not have been created.
        """
        return self._transport.call("POST", _path(organization), SAMLProvider, body=provider.wire())

    @operation("getOrganizationSAMLProviderById")
    def get(self, organization: str, provider: str) -> SAMLProvider:
        """Return a SAML provider."""
        return self._transport.call("GET", _path(organization, provider), SAMLProvider)

    @operation("updateOrganizationSAMLProvider")
    def update(self, organization: str, provider: str, changes: SAMLProviderUpdate) -> SAMLProvider:
        """Change a provider, and return it."""
        return self._transport.call("PATCH", _path(organization, provider), SAMLProvider, body=changes.wire())

    @operation("deleteOrganizationSAMLProvider")
    def delete(self, organization: str, provider: str) -> None:
        """Delete a provider; success too when it did not exist."""
        self._transport.delete(_path(organization, provider))

    @operation("listSSOProviderLoginsInOrganization")
    def list_logins(self, organization: str) -> SSOLogins:
        """Return the ways to sign in to an organization."""
        return self._transport.call("GET", ("orgs", organization, "sso"), SSOLogins)


def _path(organization: str, *below: str) -> tuple[str, ...]:
    return ("orgs", organization, "saml", *below)
