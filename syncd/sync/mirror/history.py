"""Revisions that passed between two looks at a space, so that each becomes a commit of its own.

Where they lead back to another one than the last that was read, the space was restored from a backup.
Source: docs/decisions/0002-one-recorded-base.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from syncd.api.client import Client
from syncd.errors import AnswerTooLarge, NotFound, NotThePlatform, Rejected, Unauthorized
from syncd.model.changes import Change, Changes
from syncd.model.page import walk_pages
from syncd.model.revision import Revision
from syncd.sync.mirror.source import PastContent

STEPS_MAX = 50
PAGES_MAX = 20_000
"""Pages of all revisions that are read together: what lies further back is one step with what came after it."""
CHANGES_MAX = 1_000
"""Changes that are read; what has more is read as a whole."""
NOT_SHOWN = (NotFound, NotThePlatform, AnswerTooLarge, Rejected, Unauthorized)
"""Where a platform, or a proxy before it, does not show revisions that are over."""


@dataclass(frozen=True)
class PassedRevisions:
    """Revisions between the last one in Git and the current one, oldest first.

    Shape: `restored` is the one that they come from where that is not the last one in Git; "" where it is, or where the
    platform does not say.
    """

    between: tuple[PastContent, ...] = ()
    restored: str = ""


def read_past(client: Client, space: str, id: str) -> Revision | None:
    """Return a past revision of a space; None where the platform does not show it."""
    try:
        return client.revisions.get(space, id)
    except NOT_SHOWN:
        return None


def find_passed(
    client: Client, space: str, current: Revision, last: str, is_in_git: Callable[[str], bool] = lambda _: False
) -> PassedRevisions:
    """Return the revisions between the last one in Git and the current one; `is_in_git` tells which others are there.

    Shape: none where the platform does not show them, or where there are too many. The order is that of the parents.
    """
    if is_in_git(current.id):
        return PassedRevisions(restored=current.id)
    between: list[PastContent] = []
    aside: list[str] = []
    revision, pages = current, 0
    while revision.parents and revision.parents[0] != last and not is_in_git(revision.parents[0]):
        if between:  # a tree may be large: only the last one read is kept, and the others are read again
            between[-1] = PastContent(client, space, revision.id)
        aside += revision.parents[1:]
        before = read_past(client, space, revision.parents[0])
        if before is None:
            return PassedRevisions()
        revision = before
        between.append(PastContent(client, space, revision.id, revision))
        pages += sum(1 for _ in walk_pages(revision.pages))
        if len(between) > STEPS_MAX or pages > PAGES_MAX:
            return PassedRevisions()
    if revision.parents[:1] == (last,):
        return PassedRevisions(tuple(between[::-1]))
    known = {one.revision() for one in between}
    if _may_lead_back(client, space, (*aside, *revision.parents[1:]), last, lambda id: id in known or is_in_git(id)):
        return PassedRevisions()
    if revision.parents:
        return PassedRevisions(tuple(between[::-1]), revision.parents[0])
    return (
        PassedRevisions(tuple(between[-2::-1]), revision.id) if between else PassedRevisions()
    )  # some platforms name no parents


def _may_lead_back(client: Client, space: str, ids: Sequence[str], last: str, is_in_git: Callable[[str], bool]) -> bool:
    """Whether revisions, of change requests that were merged, come from the last one in Git, or nobody can say."""
    # In doubt the answer is yes: a restored space is held until a person decides, which must not happen to one that
    # only has revisions that nobody can read.
    pending, seen = list(ids), set[str]()
    while pending:
        id = pending.pop()
        if id == last:
            return True
        if id in seen or is_in_git(id):
            continue
        seen.add(id)
        before = read_past(client, space, id)
        if before is None:
            return True
        pending += before.parents
        if len(seen) > STEPS_MAX:
            return True
    return False


def read_revision_changes(client: Client, space: str, revision: str) -> tuple[Change, ...] | None:
    """Return what a revision has changed; None where that is too much, or the platform does not say it."""
    return _read_changes(lambda limit: client.revisions.get_changes(space, revision, limit=limit))


def read_request_changes(client: Client, space: str, request: str) -> tuple[Change, ...] | None:
    """Return what a change request changes; None where that is too much, or the platform does not say it."""
    return _read_changes(lambda limit: client.change_request_content.get_changes(space, request, limit=limit))


def _read_changes(get: Callable[[int], Changes]) -> tuple[Change, ...] | None:
    try:
        found = get(CHANGES_MAX)
    except NOT_SHOWN:
        return None
    return None if found.more else found.changes
