"""Find and report pages of a proposal of which the platform does not keep every word."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from syncd.errors import AnswerLost, NotFound, Rejected, Unauthorized
from syncd.layout.compare.lost_words import LostLine
from syncd.model.comment import CommentBodyWrite, CommentCreate
from syncd.plan.propose.comments import build_loss_mark, format_loss_lines, render_loss_comment
from syncd.sync.binding import Binding
from syncd.sync.merge.lossy_forms import NormalisedForms
from syncd.sync.state.notes import add_notes, read_notes
from syncd.sync.state.proposals import Proposal
from syncd.sync.workspace import Workspace

COMMENTED_NOTE = "lost_told"
"""The note of which losses have their comment."""
COMMENTS_MAX = 20
"""Pages of one run on which a comment is posted; the description and the notes tell of all."""


@dataclass(frozen=True)
class LostWords:
    """A page and the words of it that the platform does not keep; `path` is from the repository's root."""

    page: str
    path: str
    losses: tuple[LostLine, ...]


def find_losses(workspace: Workspace, binding: Binding, live: Proposal) -> list[LostWords]:
    """Return the pages that a change request changed and of which the platform does not keep every word.

    Shape: costs nothing where the platform never lost a word.
    """
    forms = NormalisedForms(workspace, binding)
    seen = workspace.store.read_last_seen(binding.space, live.lane) if forms.read_known() else None
    if seen is None:
        return []
    found = forms.find_losses(seen.anchors.values())
    return sorted((LostWords(a.id, binding.path(a.path), losses) for a, losses in found), key=lambda lost: lost.path)


def format_losses(losses: Sequence[LostWords]) -> tuple[str, ...]:
    """Return what a person should know of pages with losses, a line for each line of a file."""
    return tuple(line for lost in losses for line in format_loss_lines(lost.path, lost.losses))


def comment_on_losses(workspace: Workspace, binding: Binding, live: Proposal, losses: Sequence[LostWords]) -> None:
    """Comment on each page of a change request with losses, once for the same words."""
    number = live.change_request.number
    commented = set(read_notes(workspace.repository, binding, number).get(COMMENTED_NOTE) or ())
    fresh = {mark: lost for lost in losses if (mark := build_loss_mark(lost.page, lost.losses)) not in commented}
    for mark, lost in list(fresh.items())[:COMMENTS_MAX]:
        _post_comment(workspace, binding, live, lost, mark)
        commented.add(mark)
    if fresh:
        add_notes(workspace.repository, binding, number, {COMMENTED_NOTE: sorted(commented)})


def _post_comment(workspace: Workspace, binding: Binding, live: Proposal, lost: LostWords, mark: str) -> None:
    comments, request = workspace.client.change_request_comments, live.change_request.id
    body = CommentBodyWrite(markdown=render_loss_comment(lost.page, lost.path, lost.losses))
    with suppress(AnswerLost, NotFound, Rejected, Unauthorized):  # the run's notes and the description tell it as well
        existing = comments.list(binding.space, request, target_page=lost.page)
        if not any((comment.body.markdown or "").rstrip().endswith(mark) for comment in existing):
            comments.post(binding.space, request, CommentCreate(body=body, page=lost.page))
