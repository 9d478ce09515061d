"""PublishedSiteContentLookup: which site content is at an address that visitors read (@gitbook/api 0.202.0)."""

from typing import Any, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed, ObservedId

URL_MAX = 4096
TOKEN_MAX = 8192
"""Characters of a visitor's token."""


class UrlVisitor(Declared):
    """Who would read the address."""

    type: Literal["human", "agent"] = "human"
    jwt_token: str = Field(default="", max_length=TOKEN_MAX)
    unsigned_claims: dict[str, Any] = Field(default_factory=dict, max_length=100)


class PublishedUrlLookup(Declared):
    """Body of `POST /urls/published`."""

    url: str = Field(min_length=1, max_length=URL_MAX)
    redirect_on_error: bool = False
    visitor: UrlVisitor = UrlVisitor()


class PublishedUrlAnswer(Observed):
    """The content at an address, or where the address leads on (`target` and `redirect`).

    Shape: `complete` says that no longer address names another site-space; `pathname` is then the page's path.
    """

    target: Literal["content", "application", "external"] | None = None
    redirect: str | None = None
    site: ObservedId | None = None
    site_section: ObservedId | None = None
    site_space: ObservedId | None = None
    space: ObservedId | None = None
    change_request: ObservedId | None = None
    revision: ObservedId | None = None
    organization: ObservedId | None = None
    pathname: str | None = None
    base_path: str | None = None
    site_base_path: str | None = None
    canonical_url: str | None = None
    api_token: str | None = None
    share_key: str | None = None
    context_id: str | None = None
    complete: bool | None = None
    preview: bool | None = None
