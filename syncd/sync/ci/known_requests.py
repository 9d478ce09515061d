"""Find the change requests of a branch, which jobs at once may have opened twice, and archive what is too many.

One in which people wrote is never archived: nobody would read them there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syncd.model.change_request import ChangeRequest, ChangeRequestUpdate
from syncd.plan.message import build_marker
from syncd.plan.propose.comments import read_mark
from syncd.plan.propose.description import read_base_revision, read_written_revision
from syncd.sync.binding import Binding
from syncd.sync.ci.past import write_past_commit, write_proposed_commit
from syncd.sync.merge.merge import merge
from syncd.sync.merge.result import Base
from syncd.sync.mirror.history import NOT_SHOWN
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class KnownRequests:
    """The change requests of this repository in one space, newest first; `live` is the branch's own.

    Shape: `doubles` are live, too, and have nothing but what jobs wrote; `others` have words of people.
    """

    live: ChangeRequest | None = None
    archived: tuple[ChangeRequest, ...] = ()
    merged: tuple[ChangeRequest, ...] = ()
    doubles: tuple[ChangeRequest, ...] = ()
    others: tuple[ChangeRequest, ...] = ()

    def format_others(self, branch: str) -> list[str]:
        """Return a line for people for each change request of a branch that stays beside its own."""
        own = self.live.number if self.live is not None else 0
        return [
            f"#{other.number} and #{own} are both for {branch}, and people wrote in both: #{own} counts, and "
            f"#{other.number} is not written to any more"
            for other in self.others
        ]


def find_known_requests(workspace: Workspace, binding: Binding, branch: str, commit: str) -> KnownRequests:
    """Return the change requests of a branch that this repository made in a space; the job is about the commit.

    Shape: of several that are live, which two jobs at once may have made, the first one counts, but before it the last
    one in which people wrote.
    """
    requests, mark = workspace.client.change_requests, build_marker(branch, workspace.instance)
    live = sorted(
        (one for status in ("draft", "open") for one in requests.list(binding.space, status=status)
         if one.subject.endswith(mark)),
        key=lambda one: one.number,
    )  # fmt: skip
    merged = _select_own(requests.list(binding.space, status="merged"), f"#{workspace.instance}]")
    if not live:
        archived = _select_own(requests.list(binding.space, status="archived"), mark)
        return KnownRequests(None, tuple(archived), tuple(merged))
    several = reversed(live) if len(live) > 1 else ()
    others = [one for one in several if _has_words_of_people(workspace, binding, commit, one)]
    own = others[0] if others else live[0]
    doubles = tuple(one for one in live if one not in (own, *others))
    return KnownRequests(own, (), tuple(merged), doubles, tuple(others[1:]))


def _select_own(requests: Iterator[ChangeRequest], sign: str) -> list[ChangeRequest]:
    found = [request for request in requests if request.subject.endswith(sign)]
    return sorted(found, key=lambda one: one.number, reverse=True)


def archive_doubles(workspace: Workspace, binding: Binding, doubles: Sequence[ChangeRequest]) -> None:
    """Archive what jobs at once opened twice, but for one in which somebody wrote since it was read."""
    requests = workspace.client.change_requests
    for double in doubles:
        archived = requests.update(binding.space, double.id, ChangeRequestUpdate(status="archived"))
        if archived.revision != double.revision or _has_remarks(workspace, binding, archived):
            reopened = ChangeRequestUpdate.model_validate({"status": double.status})
            requests.update(binding.space, double.id, reopened)


def _has_words_of_people(workspace: Workspace, binding: Binding, commit: str, request: ChangeRequest) -> bool:
    return _has_remarks(workspace, binding, request) or _has_edits(workspace, binding, commit, request)


def _has_remarks(workspace: Workspace, binding: Binding, request: ChangeRequest) -> bool:
    """Whether somebody commented on a change request or reviewed it; syncd's own comments have a mark."""
    comments, reviews = workspace.client.change_request_comments, workspace.client.reviews
    try:
        texts = [comment.body.markdown or "" for comment in comments.list(binding.space, request.id)]
    except NOT_SHOWN:
        return bool(request.comments)
    if any(read_mark(text, workspace.instance) is None for text in texts):
        return True
    try:
        return any(True for _ in reviews.list(binding.space, request.id))
    except NOT_SHOWN:
        return False


def _has_edits(workspace: Workspace, binding: Binding, commit: str, request: ChangeRequest) -> bool:
    """Whether a change request may hold more than main content and what a job wrote to it."""
    began = request.revision_merged_ancestor or request.revision_initial or ""
    is_own = read_base_revision(request.description)[0] in ("=", "+")
    if request.revision == began or (is_own and read_written_revision(request.description) == request.revision):
        return False
    # A job that died, or that runs just now, has written a part of a commit.
    base = write_past_commit(workspace, binding, began, like=commit) if began else None
    theirs = write_proposed_commit(workspace, binding, request, like=commit)
    tree = workspace.repository.find_tree(base) if base is not None else None
    if theirs is None or tree is None:
        return True
    both = merge(workspace, commit, theirs, base=Base(tree, ()))
    return both.has_conflict_in(binding) or not workspace.has_same_content(binding, both.tree_with_ours, commit)
