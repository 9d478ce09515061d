"""Values of a push: what a branch wants of one space, what exists, and what waits elsewhere."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from syncd.layout.tree.translate import Translation
from syncd.model.change_request import ChangeRequest
from syncd.model.changes import Change
from syncd.model.wording import format_first
from syncd.plan.message import TIP
from syncd.plan.propose.alignment import ExistingSide
from syncd.plan.propose.proposal import ContentPlan
from syncd.repo.values import Commit
from syncd.sync.merge.result import EntryConflict
from syncd.sync.outcome import Held

PATHS_SHOWN = 5


@dataclass(frozen=True)
class ProposedElsewhere:
    """What of a branch has to wait, because other change requests add it already.

    Shape: `added` has the number of the change request by each path that one adds. `links` has the paths to which each
    changed page links: a page waits with what it links to, since its link would lead nowhere. `deleted` are paths that
    the others add, and that the branch had and has deleted.
    """

    added: Mapping[str, int] = field(default_factory=dict)
    links: Mapping[str, frozenset[str]] = field(default_factory=dict)
    deleted: frozenset[str] = frozenset()

    def list_waiting(self, has_path: Callable[[str], bool]) -> frozenset[str]:
        """Return the paths to leave out; `has_path` tells what the branch's own change request has already."""
        waiting = {path for path in self.added if not has_path(path)}
        while more := {page for page, linked in self.links.items() if linked & waiting} - waiting:
            waiting |= more
        return frozenset(waiting)

    def find_numbers(self, left_out: Collection[str]) -> dict[str, int]:
        """Return the change request that each of the paths waits for that are left out because of others."""
        found = {path: number for path, number in self.added.items() if path in left_out}
        while more := {
            page: found[min(linked & found.keys())]
            for page, linked in self.links.items()
            if page in left_out and page not in found and linked & found.keys()
        }:
            found |= more
        return found

    def format_notes(self, left_out: Collection[str]) -> tuple[str, ...]:
        """Return a line for people for each change request that paths wait for, of those that are left out."""
        numbers = sorted({number for path, number in self.added.items() if path in left_out})
        return tuple(self._format_note(number, left_out) for number in numbers)

    def _format_note(self, number: int, left_out: Collection[str]) -> str:
        paths = [path for path, added_by in self.added.items() if added_by == number and path in left_out]
        return f"#{number} adds {format_paths(paths)} already; sent from here once #{number} is merged or archived"


NOTHING = ProposedElsewhere()


def format_paths(paths: Collection[str]) -> str:
    """Return the first of some paths, in their order."""
    return format_first(sorted(paths), PATHS_SHOWN)


@dataclass(frozen=True)
class Intent:
    """What a branch wants of one space: the tree of the commit `desired` is what the space is to hold.

    Shape: `tip` is the branch's commit, `main` that of main content, and `existing` the one that operations are planned
    against: the change request's, or main content's where there is none. The parents of `desired` are the branch's
    commit or a part of it, `existing`, and their base. `left_out` are the paths of each entry that is not sent;
    `conflict_outcomes` are what people are told of each page that is not sent: in conflict, or refused.
    `entry_conflicts` are the pages in conflict, each with the name of the side that they are in conflict with.
    `elsewhere` is what other change requests add already. `later` says which pages wait until the change request has
    taken in the main content that has them. `staying` are pages that stay in the change request, whose number each has,
    until the branch has what reviewers wrote there.
    """

    branch: str
    tip: str
    main: str
    existing: str
    desired: str
    commits: tuple[Commit, ...]
    left_out: tuple[tuple[str, ...], ...] = ()
    conflict_outcomes: tuple[Held, ...] = ()
    entry_conflicts: tuple[tuple[str, EntryConflict], ...] = ()
    elsewhere: ProposedElsewhere = NOTHING
    later: tuple[str, ...] = ()
    staying: Mapping[str, int] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """What people are told of pages and files that wait for another change request, or for this one."""
        return (*self.elsewhere.format_notes(self._list_left_out()), *self.later)

    @property
    def awaited(self) -> dict[str, int]:
        """The number of the change request that each path waits for: another one brings it, or its own one keeps it."""
        return {**self.elsewhere.find_numbers(self._list_left_out()), **self.staying}

    @property
    def named_tip(self) -> str:
        """The branch's commit as people know it: a CI run puts a commit of its own upon it."""
        return self.commits[0].trailers.get(TIP, [self.tip])[-1] if self.commits else self.tip

    def _list_left_out(self) -> set[str]:
        return {path for paths in self.left_out for path in paths}


@dataclass(frozen=True)
class ExistingContent:
    """Existing content: `commit` holds it in Git, `translation` maps between paths and the platform's references."""

    existing: ExistingSide
    commit: str
    translation: Translation


@dataclass(frozen=True)
class ChangedPages:
    """The plan of a push that edits, inserts and renames pages alone, with all that is needed to carry it out.

    Shape: `content` has the anchors of the pages to edit and to rename only, and `revision` is the one that they are
    in; `former` are the changes that the change request had before, and `request` is how it was, None for a new one.
    """

    content: ExistingContent
    plan: ContentPlan
    former: tuple[Change, ...] = ()
    request: ChangeRequest | None = None

    @property
    def revision(self) -> str:
        """The revision that has the existing content."""
        return self.content.existing.revision.id
