"""The result of merging two commits: two trees, and the entries in conflict. Every flow acts on it and prints from
it."""

from dataclasses import dataclass, field

from syncd.plan.merge.pages import Decision, Page, Side
from syncd.sync.merge.base import Base
from syncd.sync.merge.tables import SummaryVersions

Choice = Side | bytes
"""What a person decided for a page in conflict: a side, or a text of their own."""
EXCLUDED = "it was left out by the caller"
SEVERAL_BASES = "both sides have merged it differently before"
LOST_WORDS = "the platform had lost words of it, and they were edited there in the same place"


@dataclass(frozen=True)
class EntryConflict:
    """A page that a person has to decide about, or several pages that can only be decided together.

    Shape: `path` is where people look for it; `why` is a sentence for them. `text` has both sides' lines, with Git's
    markers around those in conflict; b"" where no lines were merged.
    """

    path: str
    why: str
    pages: tuple[Page, ...]
    text: bytes = field(default=b"", repr=False)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it has on a side."""
        return tuple(dict.fromkeys(path for page in self.pages for path in page.paths))

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """The paths of each of its pages on all sides, as `leave_out` takes them."""
        return tuple(page.paths for page in self.pages)

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Given a side, return its paths there; none where it was deleted or never was."""
        return tuple(version.path for page in self.pages if (version := page.at(side)) is not None)


@dataclass(frozen=True)
class Decisions:
    """What becomes of each page of base, ours and theirs: `clean` pages merge, `conflicts` need a person's choice.

    Shape: `trees` are those of base, ours and theirs.
    """

    trees: tuple[str, str, str]
    clean: tuple[Decision, ...]
    conflicts: tuple[tuple[EntryConflict, tuple[Decision, ...]], ...]
    tables: tuple[SummaryVersions, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MergeResult:
    """The trees that merging two commits gives, and the pages in conflict, which need a person.

    Shape: the trees differ only in the pages in conflict, which are as that side has them. `outside_paths` are paths in
    conflict that lie in no space. `revived_paths` are files that one side deleted and that stay since the other changed
    them. `decisions` is what the trees were made from; None where one side has all of the other.
    """

    ours: str
    theirs: str
    base: Base
    tree_with_ours: str
    tree_with_theirs: str
    conflicts: tuple[EntryConflict, ...] = ()
    notes: tuple[str, ...] = ()
    outside_paths: tuple[str, ...] = ()
    revived_paths: tuple[str, ...] = ()
    decisions: Decisions | None = field(default=None, repr=False, compare=False)
