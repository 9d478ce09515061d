"""The platform's API as one object, with a resource group behind each attribute.

A group is loaded when it is first used: all of their shapes together take longer to make than most commands run.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from syncd.api.options import DEFAULTS, ClientOptions
from syncd.api.transport.addresses import parse_base_url
from syncd.api.transport.credential import Credential
from syncd.api.transport.downloads import Downloads
from syncd.api.transport.request_loop import RequestLoop
from syncd.api.transport.transport import Transport

if TYPE_CHECKING:
    from syncd.api.ask import SiteAsk
    from syncd.api.change_request_content import ChangeRequestContent
    from syncd.api.change_requests import ChangeRequests
    from syncd.api.collections import Collections
    from syncd.api.comments import ChangeRequestComments, SpaceComments
    from syncd.api.content import Content, Revisions
    from syncd.api.conversations import Conversations
    from syncd.api.customization import Customization
    from syncd.api.integrations import Integrations
    from syncd.api.members import Members
    from syncd.api.openapi_specs import OpenAPISpecs
    from syncd.api.organizations import Organizations
    from syncd.api.permissions import CollectionPermissions, SpacePermissions
    from syncd.api.raw import Raw
    from syncd.api.redirects import Redirects
    from syncd.api.reviews import Reviews
    from syncd.api.saml import Saml
    from syncd.api.search import Search
    from syncd.api.section_groups import SectionGroups
    from syncd.api.sections import Sections
    from syncd.api.share_links import ShareLinks
    from syncd.api.site_spaces import SiteSpaces
    from syncd.api.sites import Sites
    from syncd.api.spaces import Spaces
    from syncd.api.teams import Teams
    from syncd.api.translations import Translations
    from syncd.api.users import Users


class Client:
    """One platform under one token; threads may share it, and a `with` block closes it."""

    def __init__(self, url: str, token: str, options: ClientOptions = DEFAULTS) -> None:
        base = parse_base_url(url, insecure=options.insecure)
        self._loop = RequestLoop(base, Credential(token, options.renew), options)
        self._transport = Transport(self._loop)
        self._downloads = Downloads(self._loop, options.resolve)

    def __repr__(self) -> str:
        return f"Client({self._loop.base!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def requests_sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method; every try and every download counts."""
        return self._loop.requests_sent

    def close(self) -> None:
        """Close every connection."""
        self._loop.close()

    def hold_large_answers(self) -> AbstractContextManager[None]:
        """Return a block in which a thread that reads a large answer makes others that read one wait, until the block
        ends.

        For threads that do something with what they read, such that only one of them holds something large.
        """
        return self._loop.large_answers.hold_until_end()

    def take_notices(self) -> tuple[str, ...]:
        """Return once what a person should know of answers that were readable all the same, such as half characters."""
        return self._transport.take_notices()

    @cached_property
    def raw(self) -> "Raw":
        """Operations by their path, such as `/orgs` or `/v1/spaces/abc?shareKey=k`."""
        from syncd.api.raw import Raw

        return Raw(self._transport)

    @cached_property
    def users(self) -> "Users":
        """Operations on users; all are beyond the document."""
        from syncd.api.users import Users

        return Users(self._transport)

    @cached_property
    def organizations(self) -> "Organizations":
        """Operations on organizations."""
        from syncd.api.organizations import Organizations

        return Organizations(self._transport)

    @cached_property
    def members(self) -> "Members":
        """Operations on members and invitations; all but `delete_link_invite` are beyond the document."""
        from syncd.api.members import Members

        return Members(self._transport)

    @cached_property
    def teams(self) -> "Teams":
        """Operations on teams."""
        from syncd.api.teams import Teams

        return Teams(self._transport)

    @cached_property
    def saml(self) -> "Saml":
        """Operations on SAML providers."""
        from syncd.api.saml import Saml

        return Saml(self._transport)

    @cached_property
    def collections(self) -> "Collections":
        """Operations on collections."""
        from syncd.api.collections import Collections

        return Collections(self._transport)

    @cached_property
    def collection_permissions(self) -> "CollectionPermissions":
        """Operations on the direct access to a collection; all are beyond the document."""
        from syncd.api.permissions import CollectionPermissions

        return CollectionPermissions(self._transport)

    @cached_property
    def spaces(self) -> "Spaces":
        """Operations on spaces."""
        from syncd.api.spaces import Spaces

        return Spaces(self._transport)

    @cached_property
    def space_permissions(self) -> "SpacePermissions":
        """Operations on the direct access to a space; all are beyond the document."""
        from syncd.api.permissions import SpacePermissions

        return SpacePermissions(self._transport)

    @cached_property
    def content(self) -> "Content":
        """Operations on a space's main content."""
        from syncd.api.content import Content

        return Content(self._transport, self._downloads)

    @cached_property
    def revisions(self) -> "Revisions":
        """Operations on revisions of a space by their id (beyond the API document: @gitbook/api 0.202.0)."""
        from syncd.api.content import Revisions

        return Revisions(self._transport)

    @cached_property
    def search(self) -> "Search":
        """Searching main content."""
        from syncd.api.search import Search

        return Search(self._transport)

    @cached_property
    def change_requests(self) -> "ChangeRequests":
        """Operations on change requests; `change_request` is an id or a number within the space."""
        from syncd.api.change_requests import ChangeRequests

        return ChangeRequests(self._transport)

    @cached_property
    def change_request_content(self) -> "ChangeRequestContent":
        """Reads of a change request's content; `change_request` is an id or a number within the space."""
        from syncd.api.change_request_content import ChangeRequestContent

        return ChangeRequestContent(self._transport)

    @cached_property
    def change_request_comments(self) -> "ChangeRequestComments":
        """Operations on the comments of a change request, which is an id or a number within the space."""
        from syncd.api.comments import ChangeRequestComments

        return ChangeRequestComments(self._transport)

    @cached_property
    def space_comments(self) -> "SpaceComments":
        """Operations on the comments of a space."""
        from syncd.api.comments import SpaceComments

        return SpaceComments(self._transport)

    @cached_property
    def reviews(self) -> "Reviews":
        """Operations on the reviews of a change request, which is an id or a number within the space."""
        from syncd.api.reviews import Reviews

        return Reviews(self._transport)

    @cached_property
    def sites(self) -> "Sites":
        """Operations on sites."""
        from syncd.api.sites import Sites

        return Sites(self._transport)

    @cached_property
    def section_groups(self) -> "SectionGroups":
        """Operations on a site's section groups."""
        from syncd.api.section_groups import SectionGroups

        return SectionGroups(self._transport)

    @cached_property
    def sections(self) -> "Sections":
        """Operations on a site's sections."""
        from syncd.api.sections import Sections

        return Sections(self._transport)

    @cached_property
    def site_spaces(self) -> "SiteSpaces":
        """Operations on a site's site-spaces."""
        from syncd.api.site_spaces import SiteSpaces

        return SiteSpaces(self._transport)

    @cached_property
    def redirects(self) -> "Redirects":
        """Operations on a site's redirects."""
        from syncd.api.redirects import Redirects

        return Redirects(self._transport)

    @cached_property
    def customization(self) -> "Customization":
        """Operations on the settings of sites and site-spaces."""
        from syncd.api.customization import Customization

        return Customization(self._transport)

    @cached_property
    def share_links(self) -> "ShareLinks":
        """Operations on a site's share links."""
        from syncd.api.share_links import ShareLinks

        return ShareLinks(self._transport)

    @cached_property
    def openapi_specs(self) -> "OpenAPISpecs":
        """Operations on OpenAPI specifications."""
        from syncd.api.openapi_specs import OpenAPISpecs

        return OpenAPISpecs(self._transport)

    @cached_property
    def ask(self) -> "SiteAsk":
        """The operation that answers questions."""
        from syncd.api.ask import SiteAsk

        return SiteAsk(self._transport)

    @cached_property
    def conversations(self) -> "Conversations":
        """Operations on conversations."""
        from syncd.api.conversations import Conversations

        return Conversations(self._transport)

    @cached_property
    def integrations(self) -> "Integrations":
        """Operations on integrations."""
        from syncd.api.integrations import Integrations

        return Integrations(self._transport)

    @cached_property
    def translations(self) -> "Translations":
        """Operations on translations."""
        from syncd.api.translations import Translations

        return Translations(self._transport)
