"""What two commits come to together, as a value that every flow acts on and prints from."""

from dataclasses import dataclass, field

from syncd.plan.merge.pages import Decision, Page, Side
from syncd.sync.merge.base import Base
from syncd.sync.merge.tables import SummaryVersions

Choice = Side | bytes
"""What a person decided for a held page: a side, or a text of their own."""
EXCLUDED = "it is set aside already"
SEVERAL_BASES = "both sides have merged it differently before"
LOST_WORDS = "the platform had lost words of it, and they were edited there in the same place"


@dataclass(frozen=True)
class EntryConflict:
    """A page that waits for a person, or pages that hold each other; `path` is where people look for it.

    Shape: `text` has both sides' lines, with Git's markers around those in conflict; b"" where no lines were merged.
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
        """The paths of each of its pages, as they are left out."""
        return tuple(page.paths for page in self.pages)

    def list_paths(self, side: Side) -> tuple[str, ...]:
        """Given a side, return its paths there; none where it was deleted or never was."""
        return tuple(version.path for page in self.pages if (version := page.at(side)) is not None)


@dataclass(frozen=True)
class Decisions:
    """What becomes of each entry of base, ours and theirs: `free` can be carried out, `held` waits for a choice."""

    trees: tuple[str, str, str]
    clean: tuple[Decision, ...]
    conflicts: tuple[tuple[EntryConflict, tuple[Decision, ...]], ...]
    tables: tuple[SummaryVersions, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class MergeResult:
    """What two commits come to together, and the pages in conflict, which need a person.

    Shape: the trees differ in the pages in conflict only, which are as the one side has them. `outside` are paths in
    conflict that lie in no space, `revived` those that a side deleted and that stay for what the other wrote. `decided`
    is what the trees were made from; None where one side has all of the other.
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
