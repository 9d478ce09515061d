"""What a branch asks of one space, as a value."""

from dataclasses import dataclass

from syncd.plan.message import TIP
from syncd.repo.values import Commit
from syncd.sync.merge.result import EntryConflict
from syncd.sync.outcome import Held


@dataclass(frozen=True)
class Intent:
    """What a branch asks of one space: the tree of the commit `desired` is what the space is to hold.

    Shape: `tip` is the branch's commit, `main` that of main content, and `existing` the one that operations are planned
    against: the change request's, or main content's where there is none. The parents of `desired` are the branch's
    commit or a part of it, `existing`, and their base. `left_out` are the paths of each entry that is not sent;
    `conflict_outcomes` are what people are told of each page that is not sent: in conflict, or refused.
    `entry_conflicts` are the pages in conflict, each with the name of the side that they are in conflict with.
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

    @property
    def named_tip(self) -> str:
        """The branch's commit as people know it: a CI run puts a commit of its own upon it."""
        return self.commits[0].trailers.get(TIP, [self.tip])[-1]
