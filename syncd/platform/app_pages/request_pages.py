"""Pages of change requests: the list, the review, the changes, and the version by which a page follows them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from syncd.model.change_request import ChangeRequest
from syncd.model.comment import Comment, CommentReply
from syncd.model.listing import Listing
from syncd.model.member import Member
from syncd.model.review import RequestedReviewer, Review
from syncd.model.space import Space
from syncd.net.page_values import TEXT, PageResponse
from syncd.platform.app_pages.context import AppRequest, build_space_frame, build_trail
from syncd.platform.app_pages.differences import PageSides, choose_page, choose_view, read_sides, read_summary
from syncd.platform.app_pages.merge_checks import read_checks
from syncd.platform.http.failures import Failure
from syncd.web.app.documents import render_difference, render_words
from syncd.web.app.pages import render_block_notes, render_request, render_request_changes, render_request_list
from syncd.web.app.values import STATUSES, CommentThread, PageDifference, RequestView, SpaceFrame
from syncd.web.rendering import Html

LIMIT = 50
COMMENTS_MAX = 200
REPLIES_MAX = 100
"""Replies of a comment that are shown."""
CHANGES_MAX = 1000
CANDIDATES_MAX = 200
NOTES: Mapping[str, str] = {
    "merged": "It is merged into the space.",
    "merge-conflicts": "It is merged. Main content had changed the same in places, and there this version was taken: "
    "look at them in the history.",
    "updated": "It has taken in what changed in the space.",
    "update-conflicts": "It has taken in what changed in the space. Where both changed the same, it kept its own: "
    "look at these places.",
    "closed": "It is closed. Nothing was deleted; it can be reopened.",
    "opened": "It is open.",
    "approved": "You approved it.",
    "changes-requested": "You requested changes.",
}
"""What is said after something was done, by the word in the address."""
_WHO = ("creator", "contributor", "requestedReviewer")


async def show_requests(at: AppRequest, space: Space) -> PageResponse:
    """Answer with the change requests of a space. Raises: Failure."""
    query = at.page.query
    status = query.get("status", "") if query.get("status", "") in STATUSES else "open"
    who = query.get("who", "") if query.get("who", "") in _WHO else ""
    asked = {"status": status, **({who: at.session.caller.user_id} if who else {})}
    answer = await at.client.call(
        "listChangeRequestsForSpace", {"space_id": space.id}, query={**at.read_paging(LIMIT), **asked}
    )
    listing, frame_at = Listing[ChangeRequest].model_validate(answer), build_space_frame(space, "changes")
    frame = at.build_frame("Change requests", trail=build_trail(frame_at))
    filters = {"status": status, "who": who}
    listed = at.read_following(listing, **filters)
    return await at.render(lambda: render_request_list(frame, frame_at, listing.items, listed, filters, at.now))


async def show_request(at: AppRequest, space: Space, number: str) -> PageResponse:
    """Answer with the page of a change request. Raises: Failure."""
    path, request = await at.find_change_request(space, number)
    frame_at = build_space_frame(space, "changes")
    comments = await _read_comments(at, path)
    summary = await read_summary(
        at,
        await at.client.call("getChangeRequestChanges", path, query={"limit": CHANGES_MAX}),
        build_sides(request),
        _count_by_page(comments.items),
    )
    reviews = Listing[Review].model_validate(
        await at.client.call("getReviewsByChangeRequestId", path, query={"format": "document", "limit": COMMENTS_MAX})
    )
    asked = Listing[RequestedReviewer].model_validate(
        await at.client.call("getRequestedReviewersByChangeRequestId", path, query={"limit": LIMIT})
    )
    replies = await _read_replies(at, path, comments.items)
    checks, refusal = await read_checks(at, space, request, reviews.items)
    view = _build_view(at, frame_at, request)
    can_review = view.can["review"] or await _is_requested(at, space, request)
    view = replace(
        view,
        can={**view.can, "review": can_review and view.can["comment"]},
        summary=summary,
        reviewers=asked.items,
        candidates=await _list_candidates(at, space, request, asked.items) if view.can["edit"] else (),
        checks=checks,
        refusal=refusal,
        more_comments=(comments.count or 0) - len(comments.items),
    )
    frame = await _build_frame(at, frame_at, path, request)

    def render() -> str:
        titles = {page.id: page.title for page in summary.pages}
        complete = replace(
            view,
            description=render_words(_serialize_document(request.description), "_about"),
            threads=_build_threads(reversed_items(comments.items), replies, titles),
            reviews=[(one, _render_review(one)) for one in reviews.items],
        )
        return render_request(frame, frame_at, complete, at.now)

    return await at.render(render)


async def show_changes(at: AppRequest, space: Space, number: str) -> PageResponse:
    """Answer with what a change request changes, and the difference of one page with its comments. Raises: Failure."""
    path, request = await at.find_change_request(space, number)
    frame_at, sides = build_space_frame(space, "changes"), build_sides(request)
    comments = await _read_comments(at, path)
    answer = await at.client.call("getChangeRequestChanges", path, query={"limit": CHANGES_MAX})
    summary = await read_summary(at, answer, sides, _count_by_page(comments.items))
    page, name = choose_page(at, summary), choose_view(at)
    both = await read_sides(at, sides, page, name) if page else None
    here = [comment for comment in comments.items if comment.target.page and comment.target.page.id == page]
    replies = await _read_replies(at, path, here)
    view = replace(_build_view(at, frame_at, request), summary=summary)
    frame = await _build_frame(at, frame_at, path, request)

    def render() -> str:
        shown = None
        if both is not None:
            notes = _BlockNotes(at, view, page, name, _build_threads(reversed_items(here), replies, {}))
            shown = page, notes.add_rest(render_difference(*both, name, notes.annotate))
        return render_request_changes(frame, frame_at, view, shown, at.now)

    return await at.render(render)


async def show_version(at: AppRequest, space: Space, number: str) -> PageResponse:
    """Answer with a few letters that are others when a change request is. Raises: Failure."""
    path, request = await at.find_change_request(space, number)
    return PageResponse((await _read_version(at, path, request)).encode(), content_type=TEXT, cache="no-store")


def build_sides(request: ChangeRequest) -> PageSides:
    """Return the revisions between which a change request's changes lie."""
    base = request.revision_merged_ancestor or request.revision_initial or ""
    return PageSides(request.space or "", base, request.revision)


def reversed_items(items: Sequence[Comment]) -> list[Comment]:
    """Return the newest comments in the order in which they were written."""
    return list(reversed(items))


class _BlockNotes:
    """What stands behind the blocks of a page: each comment once, at the block that it is about."""

    def __init__(
        self, at: AppRequest, view: RequestView, page: str, name: str, threads: Sequence[CommentThread]
    ) -> None:
        self._at, self._page = at, page
        # What is commented is the change request's own content.
        self._view = view if name != "before" else replace(view, can={**view.can, "comment": False})
        self._left = list(threads)

    def annotate(self, node: Mapping[str, Any]) -> Html:
        """Return the comments on a block, and the form for one."""
        key, keys = node.get("key"), _collect_keys(node)
        here = [one for one in self._left if one.comment.target.node and one.comment.target.node.id in keys]
        self._left = [one for one in self._left if one not in here]
        # A key with a point is of a text that the page includes, on which nobody can comment here.
        has_form = isinstance(key, str) and "." not in key and self._view.can["comment"]
        if not here and not has_form:
            return Html()
        view = self._view if has_form else replace(self._view, can={**self._view.can, "comment": False})
        return self._render_notes(view, str(key or ""), here, self._at.page.query.get("comment", "") == key)

    def add_rest(self, difference: PageDifference) -> PageDifference:
        """Return the difference with the comments that are about the page, or about a block that has changed since."""
        view = replace(self._view, can={**self._view.can, "comment": False})
        rest = self._render_notes(view, "page", self._left, False)
        return replace(difference, rest=rest)

    def _render_notes(self, view: RequestView, key: str, threads: Sequence[CommentThread], open_form: bool) -> Html:
        token = self._at.session.form_token
        return render_block_notes(view, self._page, key, threads, open_form, self._at.now, token)


def _collect_keys(node: Mapping[str, Any]) -> set[str]:
    found: set[str] = set()
    pending: list[Any] = [node]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            found.update({here["key"]} if isinstance(here.get("key"), str) else ())
            pending += [here.get("nodes"), here.get("fragments")]
        elif isinstance(here, list | tuple):
            pending += here
    return found


def _build_view(at: AppRequest, frame_at: SpaceFrame, request: ChangeRequest) -> RequestView:
    rights = frame_at.space.permissions
    can = {name: rights.get(name, False) for name in ("comment", "review", "edit", "merge")}
    return RequestView(request, f"{frame_at.address}/~/changes/{request.number}", can)


async def _build_frame(at: AppRequest, frame_at: SpaceFrame, path: Mapping[str, str], request: ChangeRequest) -> Any:
    return at.build_frame(
        f"#{request.number}",
        trail=build_trail(frame_at, ("Change requests", f"{frame_at.address}/~/changes")),
        watch=f"{frame_at.address}/~/changes/{request.number}/version",
        version=await _read_version(at, path, request),
        note=NOTES.get(at.page.query.get("done", ""), ""),
    )


async def _read_version(at: AppRequest, path: Mapping[str, str], request: ChangeRequest) -> str:
    counts = []
    for operation in ("listCommentsInChangeRequest", "getReviewsByChangeRequestId"):
        counts.append((await at.client.call(operation, path, query={"limit": 0})).get("count"))
    said = request.revision, request.status, request.updated_at, request.outdated, request.comments, counts
    return sha256(repr(said).encode()).hexdigest()[:16]


async def _read_comments(at: AppRequest, path: Mapping[str, str]) -> Listing[Comment]:
    query = {"format": "document", "limit": COMMENTS_MAX}
    return Listing[Comment].model_validate(await at.client.call("listCommentsInChangeRequest", path, query=query))


async def _read_replies(
    at: AppRequest, path: Mapping[str, str], comments: Sequence[Comment]
) -> dict[str, Sequence[CommentReply]]:
    found: dict[str, Sequence[CommentReply]] = {}
    for comment in comments:
        if comment.replies:
            answer = await at.client.call(
                "listCommentRepliesInChangeRequest",
                {**path, "comment_id": comment.id},
                query={"format": "document", "limit": REPLIES_MAX},
            )
            found[comment.id] = Listing[CommentReply].model_validate(answer).items
    return found


def _build_threads(
    comments: Sequence[Comment], replies: Mapping[str, Sequence[CommentReply]], titles: Mapping[str, str]
) -> list[CommentThread]:
    return [
        CommentThread(
            comment,
            render_words(_serialize_document(comment.body.document), comment.id),
            [
                (reply, render_words(_serialize_document(reply.body.document), reply.id))
                for reply in replies.get(comment.id, ())
            ],
            titles.get(comment.target.page.id, "") if comment.target.page else "",
        )
        for comment in comments
    ]


def _render_review(review: Review) -> Html:
    said = review.comment.body.document if review.comment is not None else None
    return render_words(_serialize_document(said), review.id)


def _serialize_document(document: Any) -> dict[str, Any] | None:
    return None if document is None else document.wire()


def _count_by_page(comments: Sequence[Comment]) -> dict[str, int]:
    found: dict[str, int] = {}
    for comment in comments:
        if comment.target.page is not None and comment.status == "open":
            found[comment.target.page.id] = found.get(comment.target.page.id, 0) + 1
    return found


async def _is_requested(at: AppRequest, space: Space, request: ChangeRequest) -> bool:
    """Whether a review is asked of the person, or of a team of theirs."""
    status = request.status
    query = {"requestedReviewer": at.session.caller.user_id, "status": status, "limit": 1000}
    answer = await at.client.call("listChangeRequestsForSpace", {"space_id": space.id}, query=query)
    return any(one["id"] == request.id for one in answer["items"])


async def _list_candidates(
    at: AppRequest, space: Space, request: ChangeRequest, reviewers: Sequence[RequestedReviewer]
) -> list[tuple[str, str]]:
    """Members who can be asked for a review; none where the person may not see who is a member."""
    try:
        answer = await at.client.call(
            "listMembersInOrganizationById",
            {"organization_id": space.organization or ""},
            query={"limit": CANDIDATES_MAX},
        )
    except Failure:
        return []
    known = {one.user.id for one in reviewers if one.user is not None}
    known |= {request.created_by.id} if request.created_by is not None else set()
    members = Listing[Member].model_validate(answer).items
    return [(one.user.id, one.user.display_name or one.user.id) for one in members if one.user.id not in known]
