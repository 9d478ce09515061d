"""What a branch asks of one space, as a value."""

from dataclasses import dataclass

from syncd.plan.message import TIP
from syncd.repo import Commit
from syncd.sync.merge.result import EntryConflict
from syncd.sync.outcome import Held


@dataclass(frozen=True)
class Intent:
    """What a branch asks of one space: the tree of `desired` is what the space is to hold.

    Shape: `tip` is the branch's commit, `main` that of main content, `here` that of what was planned upon: the change
    request, or main content where there is none. `desired` names as parents the branch's commit, or a part of it, what
    it was planned upon, and the base of both. `left_out` are the paths of each entry that is not sent; `conflicts` tell
    of those that wait for a person: in conflict, or such that no platform takes them. `held` are those in conflict,
    each with what people call the other side.
    """

    branch: str
    tip: str
    main: str
    existing: str
    desired: str
    commits: tuple[Commit, ...]
    left_out: tuple[tuple[str, ...], ...] = ()
    conflicts: tuple[Held, ...] = ()
    entry_conflicts: tuple[tuple[str, EntryConflict], ...] = ()

    @property
    def named_tip(self) -> str:
        """The branch's commit as people know it: a run without memory puts one of its own upon it."""
        return self.commits[0].trailers.get(TIP, [self.tip])[-1]
