"""Revisions that passed between two looks at a space, so that each becomes a commit of its own."""

from syncd.api.client import Client
from syncd.errors import AnswerTooLarge, NotFound, NotThePlatform, Rejected, Unauthorized
from syncd.model.file import File
from syncd.model.page import Page, walk
from syncd.model.revision import ReusableContent, Revision

STEPS_MAX = 50
PAGES_MAX = 20_000
"""Pages of all revisions that are read together: what lies further back is one step with what came after it."""


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


def passed(client: Client, space: str, current: Revision, last: str) -> list[PastContent]:
    """Given the current revision and the id of the last one in Git, return those between them, oldest first.

    Shape: none where the platform does not show them, where they are too many, or where no line leads back.
    """
    between: list[PastContent] = []
    revision, pages = current, 0
    while revision.parents and revision.parents[0] != last:
        if between:  # a tree may be large: only the last one read is kept, and the others are read again
            between[-1] = PastContent(client, space, revision.id)
        try:
            revision = client.revisions.get(space, revision.parents[0])
        except (NotFound, NotThePlatform, AnswerTooLarge, Rejected, Unauthorized):
            return []
        between.append(PastContent(client, space, revision.id, revision))
        pages += sum(1 for _ in walk(revision.pages))
        if len(between) > STEPS_MAX or pages > PAGES_MAX:
            return []
    return between[::-1] if revision.parents else []
