"""The three places where a space's content is read: main content, a change request, a revision that is over."""

from syncd.api.client import Client
from syncd.model.file import File
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision


class MainContent:
    """A space's live content."""

    def __init__(self, client: Client, space: str) -> None:
        self._client, self._space = client, space

    def revision(self) -> str:
        return self._client.spaces.get(self._space).revision or ""

    def content(self) -> Revision:
        return self._client.content.get(self._space)

    def page(self, page: str) -> Page:
        return self._client.content.get_page(self._space, page)

    def file(self, file: str) -> File:
        return self._client.content.get_file(self._space, file)

    def include(self, reusable_content: str) -> ReusableContent:
        return self._client.content.get_reusable_content(self._space, reusable_content)


class ProposedContent:
    """A change request's content."""

    def __init__(self, client: Client, space: str, change_request: str) -> None:
        self._client, self._space, self._id = client, space, change_request

    def revision(self) -> str:
        return self._client.change_requests.get(self._space, self._id).revision

    def content(self) -> Revision:
        return self._client.change_request_content.get(self._space, self._id)

    def page(self, page: str) -> Page:
        return self._client.change_request_content.get_page(self._space, self._id, page)

    def file(self, file: str) -> File:
        return self._client.change_request_content.get_file(self._space, self._id, file)

    def include(self, reusable_content: str) -> ReusableContent:
        return self._client.change_request_content.get_reusable_content(self._space, self._id, reusable_content)


class PastContent:
    """Content of a space at a revision that is over; it cannot move. `known` is its tree where that was just read."""

    def __init__(self, client: Client, space: str, revision: str, known: Revision | None = None) -> None:
        self._client, self._space, self._id, self._known = client, space, revision, known

    def revision(self) -> str:
        return self._id

    def content(self) -> Revision:
        return self._known or self._client.revisions.get(self._space, self._id)

    def page(self, page: str) -> Page:
        return self._client.revisions.get_page(self._space, self._id, page)

    def file(self, file: str) -> File:
        return self._client.revisions.get_file(self._space, self._id, file)

    def include(self, reusable_content: str) -> ReusableContent:
        return self._client.revisions.get_reusable_content(self._space, self._id, reusable_content)
