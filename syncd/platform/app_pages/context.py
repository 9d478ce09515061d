"""A request of a person who is signed in: who it is, what was asked for, and how the API is asked on the way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from fastapi import Request

from syncd.model.change_request import ChangeRequest
from syncd.model.listing import Listing
from syncd.model.space import Space
from syncd.net.page_values import PageRequest, PageResponse
from syncd.platform.app_pages.operations import OperationClient
from syncd.platform.app_pages.sessions import BrowserSession
from syncd.platform.http.failures import Failure
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.storage.storage import Storage
from syncd.web.app.values import AppFrame, ListPage, SpaceFrame

T = TypeVar("T")


@dataclass(frozen=True)
class AppRequest:
    """A request of a person who is signed in."""

    request: Request
    page: PageRequest
    session: BrowserSession
    client: OperationClient

    @property
    def storage(self) -> Storage:
        """The storage of the platform."""
        storage: Storage = self.request.app.state.storage
        return storage

    @property
    def now(self) -> float:
        """This moment in epoch seconds."""
        return self.storage.now().timestamp()

    def build_frame(self, title: str, **members: Any) -> AppFrame:
        """Return what surrounds a page of this person."""
        return AppFrame(title, self.session.caller.display_name, self.session.form_token, **members)

    async def render(self, render: Callable[[], str]) -> PageResponse:
        """Return a page that is rendered in a thread, within a slot for computing. Raises: Failure 503."""
        scheduler: RequestScheduler = self.request.app.state.scheduler
        return PageResponse((await scheduler.compute(self.request, render)).encode())

    async def find_space(self, organization: str, space: str) -> Space:
        """Return a space. Raises: Failure 403 and 404, also where it belongs to another organization."""
        found = Space.model_validate(await self.client.call("getSpaceById", {"space_id": space}))
        if found.organization != organization:
            raise Failure(404, f"No space {space}.")
        return found

    async def find_change_request(self, space: Space, number: str) -> tuple[dict[str, str], ChangeRequest]:
        """Return a change request and its parameters in paths of operations. Raises: Failure 403 and 404."""
        path = {"space_id": space.id, "change_request_id": number}
        request = ChangeRequest.model_validate(await self.client.call("getChangeRequestById", path))
        return {**path, "change_request_id": request.id}, request

    def read_following(self, listing: Listing[Any], **query: str) -> ListPage:
        """Return where a list goes on, at the address of this page."""
        if listing.next is None:
            return ListPage(listing.count or 0)
        return ListPage(listing.count or 0, f"?{urlencode({**query, 'from': listing.next.page})}")

    def read_paging(self, limit: int) -> Mapping[str, object]:
        """Return the query of a list for the page that was asked for."""
        cursor = self.page.query.get("from", "")
        return {"limit": limit, **({"page": cursor} if cursor else {})}


def build_organization_address(organization: str) -> str:
    """Return the path of an organization's page."""
    return f"/app/o/{quote(organization, safe='')}"


def build_space_frame(space: Space, current: str) -> SpaceFrame:
    """Return what pages of a space say of it."""
    root = build_organization_address(space.organization or "")
    return SpaceFrame(space, f"{root}/s/{quote(space.id, safe='')}", current)


def build_trail(at: SpaceFrame, *more: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the places above a page of a space."""
    root = at.address.rpartition("/s/")[0]
    return (("Spaces", root), (at.space.title or "Untitled", at.address), *more)
