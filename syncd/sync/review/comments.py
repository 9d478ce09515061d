"""What people say of own change requests, each with its place in the repository, and what is answered."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from syncd.errors import AnswerLost, NotFound
from syncd.layout.page.block_positions import find_block_line
from syncd.model.change_request import ChangeRequest
from syncd.model.comment import Comment, CommentBodyWrite, CommentReply, CommentReplyCreate, CommentUpdate
from syncd.model.document import Document
from syncd.model.review import Review
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.review.auto_merge import list_verdicts
from syncd.sync.review.page_paths import PagePaths
from syncd.sync.settings import read_text_at
from syncd.sync.state.conflicts import list_conflict_paths
from syncd.sync.state.proposals import is_own, list_records
from syncd.sync.state.proposed_refs import ProposalRecord
from syncd.sync.workspace import Workspace


@dataclass(frozen=True)
class Remark:
    """A comment with its replies; `path`, from the repository's root, and `line` are where it points, or "" and 0."""

    comment: Comment
    replies: tuple[CommentReply, ...] = ()
    path: str = ""
    line: int = 0

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to answer it."""
        return self.comment.status != "resolved"


@dataclass(frozen=True)
class Discussion:
    """One live change request and what is said of it; `conflicts` are paths that wait for a person."""

    binding: Binding
    branch: str
    request: ChangeRequest
    comments: tuple[Remark, ...] = ()
    reviews: tuple[Review, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def objections(self) -> tuple[Review, ...]:
        """The reviews whose last word is that something has to change."""
        return tuple(review for review in self.reviews if review.status == "changes-requested")

    @property
    def has_problems(self) -> bool:
        """Whether a person should look at it first."""
        return bool(self.request.comments or self.objections or self.request.outdated or self.conflicts)


def list_discussions(workspace: Workspace, *, resolved: bool = False) -> list[Discussion]:
    """Return the discussion of each live change request, those with problems first.

    Shape: comments are oldest first, open ones before resolved ones, which are there when asked for.
    """
    found = [
        Discussion(
            binding,
            item.branch,
            request,
            tuple(_list_remarks(workspace, binding, item, request, resolved=resolved)),
            tuple(list_verdicts(workspace, binding, request)),
            list_conflict_paths(workspace, binding, item.branch),
        )
        for binding, item, request in list_live(workspace)
    ]
    return sorted(found, key=lambda each: not each.has_problems)


def list_live(workspace: Workspace) -> Iterator[tuple[Binding, ProposalRecord, ChangeRequest]]:
    """Yield the live change requests, each with its space and what Git has recorded of it."""
    for binding in workspace.bindings:
        for item in list_records(workspace, binding):
            try:
                request = workspace.client.change_requests.get(binding.space, item.number)
            except NotFound:
                continue  # the next run takes note of that
            if request.is_live and is_own(workspace, binding, item.branch, request):
                yield binding, item, request


@dataclass(frozen=True)
class FoundComment:
    """A comment that a person named, and the change request that it belongs to."""

    binding: Binding
    request: ChangeRequest
    comment: Comment


def find_comments(workspace: Workspace, beginning: str) -> list[FoundComment]:
    """Return the comments that an id, or its beginning, can mean; a complete id means only one."""
    found = [
        FoundComment(binding, request, comment)
        for binding, _, request in list_live(workspace)
        for comment in workspace.client.change_request_comments.list(binding.space, request.id)
        if comment.id.startswith(beginning)
    ]
    return [each for each in found if each.comment.id == beginning] or found


def reply(workspace: Workspace, to: FoundComment, text: str) -> None:
    """Post a reply to a comment, exactly once. Raises: AnswerLost when it did not arrive."""
    comments = workspace.client.change_request_comments
    at = (to.binding.space, to.request.id, to.comment.id)
    before = {known.id for known in comments.list_replies(*at)}
    try:
        comments.post_reply(*at, CommentReplyCreate(body=CommentBodyWrite(markdown=text)))
    except AnswerLost:
        arrived = [known for known in comments.list_replies(*at) if known.id not in before]
        if not any((known.body.markdown or "").strip() == text.strip() for known in arrived):
            raise


def resolve(workspace: Workspace, comment: FoundComment, *, resolved: bool) -> None:
    """Resolve a comment, or open it again."""
    change = CommentUpdate(resolved=resolved)
    comments = workspace.client.change_request_comments
    comments.update(comment.binding.space, comment.request.id, comment.comment.id, change)


def _list_remarks(
    workspace: Workspace, binding: Binding, item: ProposalRecord, request: ChangeRequest, *, resolved: bool
) -> Iterator[Remark]:
    if not request.comments and not resolved:
        return
    comments = workspace.client.change_request_comments
    listed = list(comments.list(binding.space, request.id, order="asc", status=None if resolved else "open"))
    spots = _CommentPlaces(workspace, binding, item, request, PagePaths(workspace, binding, request))
    for comment in sorted(listed, key=lambda comment: comment.status == "resolved"):
        replies = tuple(comments.list_replies(binding.space, request.id, comment.id)) if comment.replies else ()
        yield Remark(comment, replies, *spots.find_place(comment))


@dataclass
class _CommentPlaces:
    """Finds the place in the repository that a comment is about; each page is looked up once."""

    workspace: Workspace
    binding: Binding
    item: ProposalRecord
    request: ChangeRequest
    paths: PagePaths
    _texts: dict[str, tuple[str, Document | None]] = field(default_factory=dict)

    def find_place(self, comment: Comment) -> tuple[str, int]:
        """Return path and line that a comment is about, or "" and 0 for one that is about no page."""
        target = comment.target
        path = self.paths.find_path(target.page.id) if target.page is not None else ""
        if not path or target.page is None:
            return "", 0
        if target.node is None:
            return path, 1
        if target.page.id not in self._texts:
            self._texts[target.page.id] = self._read_text(path), self._read_document(target.page.id)
        text, document = self._texts[target.page.id]
        return path, find_block_line(text, document, target.node.id) if document is not None else 1

    def _read_text(self, path: str) -> str:
        repository = self.workspace.repository
        refs = (f"{HEADS}{self.item.branch}", self.workspace.change_ref(self.binding, self.request.number))
        texts = (read_text_at(repository, repository.resolve(ref), path) for ref in refs)
        return next((text for text in texts if text is not None), "")

    def _read_document(self, page: str) -> Document | None:
        try:
            content = self.workspace.client.change_request_content
            return content.get_page(self.binding.space, self.request.id, page, format="document").document
        except NotFound:
            return None  # the page is gone, and the comment is still there
