"""Values of a mirror commit: what is known before it, what was read for it, and what was written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from syncd.errors import Unreachable
from syncd.layout.tree.placement import Placement
from syncd.layout.tree.settings import Settings
from syncd.model.anchor import Anchor
from syncd.model.file import File
from syncd.model.page import Page
from syncd.model.revision import ReusableContent, Revision
from syncd.plan.mirror.revision import MirrorPlan
from syncd.repo.values import Person


class Source(Protocol):
    """Where content of a space is read; `revision()` is a cheap request that says whether the content has changed."""

    def revision(self) -> str:
        """Return the id of the revision that the content is at."""
        ...

    def content(self) -> Revision:
        """Return the tree of pages and files."""
        ...

    def page(self, page: str) -> Page:
        """Return a page with its text."""
        ...

    def file(self, file: str) -> File:
        """Return a file."""
        ...

    def include(self, reusable_content: str) -> ReusableContent:
        """Return a reusable content with its text."""
        ...


class RevisionMoved(Unreachable):
    """The content changed while it was read, so that what was read is discarded."""


class MainMoved(RevisionMoved):
    """A flow needs a revision of main content that is not in Git yet.

    Shape: `is_updated` says that the flow had updated a change request.
    """

    def __init__(self, space: str, *, is_updated: bool = False) -> None:
        super().__init__(f"space {space} changed meanwhile", hint="the next run reads it again")
        self.is_updated = is_updated


@dataclass(frozen=True)
class MirrorBase:
    """What is known before the revision is read.

    Shape: `anchors` by id; `start` is the commit whose tree the new one starts from; `is_complete` says that `start`
    holds exactly the anchors, so that its tree need not be listed; `stored` and `shape` are what the store has of this
    lane. `seen` is the last mirror commit of the space, with `former` as its own anchors, and `at` the commit whose
    `.gitbook.yaml`, the `settings`, gave the anchors their paths. `written` are blobs by id that this run has just
    sent, with nobody else in between; `sent` are commits that an earlier run may have sent, or that a person was asked
    to paste, and `planned` what each was planned against; `heads` are those in `start` of change requests that were
    merged, and `named` the ones of them that another clone has sent.
    """

    anchors: Mapping[str, Anchor]
    start: str | None
    is_complete: bool = True
    stored: Mapping[str, Anchor] = field(default_factory=dict)
    shape: str = ""
    seen: str | None = None
    former: Mapping[str, Anchor] = field(default_factory=dict)
    at: str | None = None
    settings: Settings = field(default_factory=Settings)
    written: Mapping[str, str] = field(default_factory=dict)
    sent: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class GatheredRevision:
    """One revision, read and planned, with nothing written yet.

    Shape: `carried_settings` is the blob of the `.gitbook.yaml` of a branch that changed the root; the commit gets it.
    It is "" where the branch has none any more, and None where the root stays.
    """

    source: Source
    revision: Revision
    placement: Placement
    plan: MirrorPlan
    base: MirrorBase
    settings: Settings
    carried_settings: str | None = None


TRIES = 4
"""Times that a moving revision is read before the run gives up until the next interval."""


@dataclass(frozen=True)
class WrittenCommit:
    """The commit that stands for the revision, and the anchors of all that it holds, by id.

    Shape: `is_partial` says that the store still has a record of what was fetched for it; `notes` are for a person;
    `moves` are the new paths of pages that moved, by the old ones.
    """

    commit: str
    anchors: Mapping[str, Anchor]
    shape: str = ""
    is_partial: bool = False
    notes: tuple[str, ...] = ()
    moves: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Signature:
    """The message, author and parents of a commit."""

    message: str
    author: Person
    parents: tuple[str, ...] = field(default=())


PARTIAL = "partial"
"""The lane of what was fetched for a commit that is not written yet."""
