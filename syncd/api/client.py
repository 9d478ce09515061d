"""The platform's API as one object, with a resource group behind each attribute."""

from collections.abc import Callable, Mapping
from random import random as uniform
from time import sleep as sleep_for
from time import time
from types import TracebackType
from typing import Self

import httpx

from syncd.api.ask import SiteAsk
from syncd.api.change_request_content import ChangeRequestContent
from syncd.api.change_requests import ChangeRequests
from syncd.api.collections import Collections
from syncd.api.comments import ChangeRequestComments, SpaceComments
from syncd.api.content import Content, Revisions
from syncd.api.conversations import Conversations
from syncd.api.customization import Customization
from syncd.api.downloads import Downloads, Resolve, addresses_of
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
from syncd.api.transport import DEADLINE, Transport
from syncd.api.users import Users


class Client:
    """One platform under one token; threads may share it, and a `with` block closes it.

    `transport` replaces the network, `sleep`, `clock` (epoch seconds) and `random` the world's; `cancelled` is asked
    before every try and during every wait; `deadline` bounds one try in seconds; `insecure` allows plain http beyond
    this machine; `resolve` turns a download's host into addresses.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        insecure: bool = False,
        sleep: Callable[[float], object] = sleep_for,
        clock: Callable[[], float] = time,
        random: Callable[[], float] = uniform,
        cancelled: Callable[[], bool] = lambda: False,
        deadline: float = DEADLINE,
        resolve: Resolve = addresses_of,
    ) -> None:
        self._transport = Transport(
            url,
            token,
            transport=transport,
            insecure=insecure,
            sleep=sleep,
            clock=clock,
            random=random,
            cancelled=cancelled,
            deadline=deadline,
        )
        self._open_shell()
        self._open_content(Downloads(self._transport, resolve))
        self._open_sites()
        self._open_services()

    def _open_shell(self) -> None:
        self.raw = Raw(self._transport)
        self.users = Users(self._transport)
        self.organizations = Organizations(self._transport)
        self.members = Members(self._transport)
        self.teams = Teams(self._transport)
        self.saml = Saml(self._transport)
        self.collections = Collections(self._transport)
        self.collection_permissions = CollectionPermissions(self._transport)
        self.spaces = Spaces(self._transport)
        self.space_permissions = SpacePermissions(self._transport)

    def _open_content(self, downloads: Downloads) -> None:
        self.content = Content(self._transport, downloads)
        self.revisions = Revisions(self._transport)
        self.search = Search(self._transport)
        self.change_requests = ChangeRequests(self._transport)
        self.change_request_content = ChangeRequestContent(self._transport)
        self.change_request_comments = ChangeRequestComments(self._transport)
        self.space_comments = SpaceComments(self._transport)
        self.reviews = Reviews(self._transport)

    def _open_sites(self) -> None:
        self.sites = Sites(self._transport)
        self.section_groups = SectionGroups(self._transport)
        self.sections = Sections(self._transport)
        self.site_spaces = SiteSpaces(self._transport)
        self.redirects = Redirects(self._transport)
        self.customization = Customization(self._transport)
        self.share_links = ShareLinks(self._transport)

    def _open_services(self) -> None:
        self.openapi_specs = OpenAPISpecs(self._transport)
        self.ask = SiteAsk(self._transport)
        self.conversations = Conversations(self._transport)
        self.integrations = Integrations(self._transport)
        self.translations = Translations(self._transport)

    def __repr__(self) -> str:
        return f"Client({self._transport.base!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def requests_sent(self) -> Mapping[str, int]:
        """How many requests were sent so far, by method; every try and every download counts."""
        return self._transport.sent

    def close(self) -> None:
        """Close every connection."""
        self._transport.close()
