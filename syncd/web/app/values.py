"""What the pages for editors and reviewers show, as frozen values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from syncd.model.change_request import ChangeRequest
from syncd.model.changes import Change
from syncd.model.comment import Comment, CommentReply
from syncd.model.page import Page
from syncd.model.review import RequestedReviewer, Review
from syncd.model.space import Space
from syncd.web.app.line_diff import DiffLine

STATUSES = ("draft", "open", "merged", "archived")
VIEWS = ("changes", "sides", "before", "after", "source")
"""How the difference of a page is shown: in one column, both sides, one side, or as Markdown."""


@dataclass(frozen=True)
class AppFrame:
    """What surrounds every page.

    Shape: `token` is what forms send, "" for who is not signed in; `trail` has a name and an address for each place
    above; `watch` is the address that says `version` as long as nothing changed, "" for a page that is not followed.
    """

    title: str
    person: str = ""
    token: str = ""
    trail: Sequence[tuple[str, str]] = ()
    watch: str = ""
    version: str = ""
    note: str = ""


@dataclass(frozen=True)
class SpaceFrame:
    """The space that a page belongs to: its address, and which of its parts is shown."""

    space: Space
    address: str
    current: str = ""


@dataclass(frozen=True)
class ListPage:
    """A page of a list: how many there are in all, and the address of the next page, "" behind the last."""

    count: int = 0
    following: str = ""


@dataclass(frozen=True)
class HistoryEntry:
    """A revision in a list; `request` is the number of the change request whose merge it is, 0 for none."""

    id: str
    at: str
    type: str
    author: str
    request: int = 0
    subject: str = ""


@dataclass(frozen=True)
class PageChange:
    """A page that differs between two revisions, and how.

    Shape: `kinds` has "added", "removed", "edited", "moved", "renamed"; `added` and `removed` count lines of Markdown,
    None where they were not counted.
    """

    id: str
    title: str
    path: str
    kinds: tuple[str, ...]
    details: tuple[str, ...] = ()
    added: int | None = None
    removed: int | None = None
    comments: int = 0


@dataclass(frozen=True)
class ChangeSummary:
    """All that differs between two revisions; `more` counts what is left out."""

    pages: tuple[PageChange, ...] = ()
    others: tuple[Change, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class PageDifference:
    """The difference of one page in one view.

    Shape: `html` is the rendered page, `lines` its Markdown where the view is "source"; `count` counts the changes;
    `cut` says in words what is left out. `rest` has the comments that stand at no block; `direction` is "rtl" or "ltr".
    """

    view: str
    html: Markup = field(default_factory=Markup)
    lines: Sequence[DiffLine] = ()
    count: int = 0
    cut: str = ""
    rest: Markup = field(default_factory=Markup)
    direction: str = "ltr"


@dataclass(frozen=True)
class CommentThread:
    """A comment with its replies, their words as HTML; `page` is the title of the page that it is about."""

    comment: Comment
    body: Markup
    replies: Sequence[tuple[CommentReply, Markup]] = ()
    page: str = ""


@dataclass(frozen=True)
class MergeCheck:
    """Something that is looked at before a merge: `state` is "good", "bad", "decide" or "idle"."""

    name: str
    state: str
    text: str


@dataclass(frozen=True)
class RequestView:
    """A change request with all that its pages say of it.

    Shape: `refusal` says why it cannot be merged by the one who looks, "" when it can; `can` has "comment", "review",
    "edit" and "merge".
    """

    request: ChangeRequest
    address: str
    can: Mapping[str, bool]
    summary: ChangeSummary = ChangeSummary()
    description: Markup = field(default_factory=Markup)
    threads: Sequence[CommentThread] = ()
    more_comments: int = 0
    reviews: Sequence[tuple[Review, Markup]] = ()
    reviewers: Sequence[RequestedReviewer] = ()
    candidates: Sequence[tuple[str, str]] = ()
    checks: Sequence[MergeCheck] = ()
    refusal: str = ""


@dataclass(frozen=True)
class TreeLine:
    """A page in a table of contents."""

    page: Page
    depth: int
    address: str
    is_current: bool = False


@dataclass(frozen=True)
class SitePart:
    """A site-space in the list of a site's parts: the section that it is in, and where it and its space are read."""

    section: str
    title: str
    space: str
    address: str
    published: str = ""


@dataclass(frozen=True)
class PageCount:
    """How often something happened on a page: `counts` is by what it was, such as "good" for a rating."""

    title: str
    address: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.counts.values())


@dataclass(frozen=True)
class SiteUse:
    """What readers did on a site, the most frequent first: in all, ratings and views by page, and words searched."""

    totals: Sequence[tuple[str, int]] = ()
    ratings: Sequence[PageCount] = ()
    views: Sequence[PageCount] = ()
    words: Sequence[tuple[str, int]] = ()
    remarks: Sequence[tuple[str, int]] = ()
