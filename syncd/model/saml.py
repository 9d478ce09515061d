"""SAML provider (`saml-provider`) and SSO login info: how people sign in with another service."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.role import Role
from syncd.model.team import Team
from syncd.model.web_address import WebAddress


def _secure(url: str) -> str:
    if urlsplit(url).scheme != "https":
        raise ValueError("must be an https address")
    return url


def _printable(text: str) -> str:
    if not text.isprintable() or not text.strip():
        raise ValueError("must be printable text")
    return text


Label = Annotated[str, Field(min_length=1, max_length=30), AfterValidator(_printable)]
EntityId = Annotated[str, Field(min_length=1, max_length=1024), AfterValidator(_printable)]
Certificate = Annotated[str, Field(min_length=1, max_length=10_000)]
SsoUrl = Annotated[WebAddress, AfterValidator(_secure)]
TeamId = Annotated[str, Field(min_length=1, max_length=100)]


class SAMLProviderCreate(Declared):
    """Body of `POST …/saml`: `certificate` is PEM, or the base64 text within it."""

    label: Label
    entity_id: EntityId | None = Field(default=None, alias="entityID")
    certificate: Certificate | None = None
    sso_url: SsoUrl | None = Field(default=None, alias="ssoURL")
    default_team: TeamId | None = None
    default_role: Nullable[Role] = None


class SAMLProviderUpdate(Declared):
    """Body of `PATCH …/saml/{samlProviderId}`: unset is unchanged."""

    label: Label = "-"
    entity_id: EntityId = Field(default="-", alias="entityID")
    certificate: Certificate = "-"
    sso_url: SsoUrl = Field(default="https://-", alias="ssoURL")
    default_team: TeamId = "-"
    default_role: Nullable[Role] = None


class SAMLService(Observed):
    """The addresses that the other service has to know."""

    acs_url: str = Field(alias="acsURL")
    start_url: str = Field(alias="startURL")
    entity_id: str = Field(alias="entityID")


class SAMLProvider(Observed):
    """A provider as the platform shows it; `status` is `pending` until it can be used, then `active`."""

    object: Literal["saml-provider"] = "saml-provider"
    id: ObservedId
    label: str
    sso_url: str | None = Field(default=None, alias="ssoURL")
    entity_id: str | None = Field(default=None, alias="entityID")
    certificate: str | None = None
    default_team: Team | None = None
    default_role: Nullable[str] = None
    created_at: str
    status: str
    service: SAMLService
    urls: dict[str, Any] = {}


class SSOLogin(Observed):
    """A way to sign in."""

    id: ObservedId
    label: str
    start_url: str = Field(alias="startURL")


class SSOLogins(Observed):
    """Answer of `GET …/sso`, which has no pages."""

    items: tuple[SSOLogin, ...]
