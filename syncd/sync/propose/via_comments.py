"""Propose in comments: where the platform's API writes no content, comments of a change request have the proposal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from syncd.errors import AnswerLost
from syncd.layout.tree.translate import normalize_line_ends
from syncd.model.comment import Comment, CommentBodyWrite, CommentCreate, CommentUpdate
from syncd.model.wording import format_count
from syncd.plan.change import Change
from syncd.plan.propose.comments import (
    CHOSEN,
    NO_CONTENT,
    Mark,
    WantedComment,
    build_comments,
    build_comments_report,
    read_mark,
    retire_mark,
)
from syncd.plan.propose.proposal import ContentPlan
from syncd.sync.binding import Binding
from syncd.sync.propose.intent import Intent
from syncd.sync.state import sent_log
from syncd.sync.state.notes import add_notes, read_notes
from syncd.sync.state.proposals import Proposal
from syncd.sync.workspace import Workspace

COMMENTS_NOTE = "comments"
"""The note of what a change request's comments were written for: the branch's content and the change request's."""
LISTINGS_MAX = 3
"""Times that the comments are listed: an answer that was lost is looked for before anything is posted again."""


def is_commented(workspace: Workspace, binding: Binding, intent: Intent, own: Proposal) -> bool:
    """Return whether the comments of a branch's change request have all that is left to propose."""
    number = own.change_request.number
    seen = workspace.store.read_last_seen(binding.space, own.lane)
    is_read = seen is not None and seen.revision == own.change_request.revision
    return is_read and read_notes(workspace.repository, binding, number).get(COMMENTS_NOTE) == _compute_state(
        workspace, binding, intent, number
    )


def post_proposal(
    workspace: Workspace,
    binding: Binding,
    intent: Intent,
    live: Proposal,
    plan: ContentPlan,
    *,
    paths: Mapping[str, str],
) -> str:
    """Put a proposal that the platform does not take into comments of its change request, and return a note.

    Shape: `paths` are the names of existing pages by id. A comment that is right already stays, one for what is not
    proposed any more is resolved. Raises: AnswerLost when answers keep being lost.
    """
    repository, number = workspace.repository, live.change_request.number
    wanted = build_comments(
        plan,
        read=lambda oid: normalize_line_ends(repository.read(oid).decode("utf-8", "replace")),
        paths=paths,
        instance=workspace.instance,
        source=f"{intent.tip[:10]}:{binding.path('')}",
        why=_find_why(workspace),
    )
    _update_comments(workspace, binding, live, wanted)
    state = _compute_state(workspace, binding, intent, number)
    add_notes(repository, binding, number, {COMMENTS_NOTE: state})
    carriers = f"{format_count(len(wanted), 'comment')} {'carries' if len(wanted) == 1 else 'carry'} the proposal"
    return f"#{number}: {_find_why(workspace)}; {carriers}"


def report_comments(workspace: Workspace, binding: Binding, live: Proposal) -> tuple[Change, ...]:
    """Return the report that the comments of a change request have the proposal, if they do."""
    number = live.change_request.number
    if sent_log.find_commented(workspace, binding, number) is None:
        return ()
    return (build_comments_report(number, _find_why(workspace)),)


def resolve_comments(workspace: Workspace, binding: Binding, live: Proposal) -> None:
    """Resolve the comments that had a proposal which the change request holds itself now."""
    number = live.change_request.number
    if sent_log.find_commented(workspace, binding, number) is not None:
        _update_comments(workspace, binding, live, ())
        add_notes(workspace.repository, binding, number, {COMMENTS_NOTE: None})
        sent_log.end_comments(workspace, binding, number)


def _find_why(workspace: Workspace) -> str:
    return CHOSEN if workspace.write == "comments" else NO_CONTENT


def _compute_state(workspace: Workspace, binding: Binding, intent: Intent, number: int) -> list[str | None]:
    repository = workspace.repository
    here = repository.resolve(workspace.change_ref(binding, number))
    return [repository.find_tree(commit, binding.directory) if commit else None for commit in (intent.desired, here)]


def _update_comments(workspace: Workspace, binding: Binding, live: Proposal, wanted: Sequence[WantedComment]) -> None:
    for left in reversed(range(LISTINGS_MAX)):
        try:
            for act in list(_list_requests(workspace, binding, live, wanted)):
                act()
            return
        except AnswerLost:
            if not left:
                raise


def _list_requests(
    workspace: Workspace, binding: Binding, live: Proposal, wanted: Sequence[WantedComment]
) -> Iterator[Callable[[], Comment]]:
    """The requests that it takes so that all wanted comments exist, each once."""
    comments, space, request = workspace.client.change_request_comments, binding.space, live.change_request.id
    existing: dict[tuple[str, int], tuple[Comment, Mark]] = {}
    for comment in comments.list(space, request, order="asc"):
        mark = read_mark(comment.body.markdown or "", workspace.instance)
        # A mark that somebody else wrote must not make the run fail on a comment that it may not change.
        if mark is None or ("permissions" in comment.model_fields_set and not comment.permissions.edit):
            continue
        # Two runs at once may have posted the same comment: the older one counts.
        if (mark.key, mark.part) not in existing:
            existing[mark.key, mark.part] = (comment, mark)
        elif comment.status != "resolved":
            yield _retire(workspace, space, request, comment)
    for one in wanted:
        found = existing.pop((one.key, one.part), None)
        body = CommentBodyWrite(markdown=one.text)
        if found is None:
            create = CommentCreate(body=body, page=one.page) if one.page else CommentCreate(body=body)
            yield partial(comments.post, space, request, create)
        elif found[1].digest != one.digest:
            news = CommentUpdate(body=body, resolved=False)
            yield partial(comments.update, space, request, found[0].id, news)
    for comment, _ in existing.values():
        if comment.status != "resolved":
            yield _retire(workspace, space, request, comment)


def _retire(workspace: Workspace, space: str, request: str, comment: Comment) -> Callable[[], Comment]:
    """A request that resolves a comment and clears its mark: the same proposal, made again, then opens it again, while
    a comment that a person resolved stays resolved."""
    body = CommentBodyWrite(markdown=retire_mark(comment.body.markdown or ""))
    news = CommentUpdate(body=body, resolved=True)
    return partial(workspace.client.change_request_comments.update, space, request, comment.id, news)
