"""What a person may ask of one plan: which part of the site, who wins a conflict, and what may be made anew."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Literal

from syncd.layout.site.read.declared import SiteFile
from syncd.model.ref import AREAS, Area, Ref


@dataclass(frozen=True)
class Options:
    """How to plan.

    Shape: `areas` are those to plan for; `target` are the refs to plan for, with what they stand in, and all when it
    is empty; `prefer` decides conflicts, and without it they are blocked; `allow_replace` has `group` where a group
    that stands in the wrong place may be made anew; `previous` is the site file as it was when syncd last carried it
    out, against which loosened limits are noticed.
    """

    areas: Set[Area] = frozenset(AREAS)
    target: Set[Ref] = frozenset()
    prefer: Literal["", "file", "live"] = ""
    allow_replace: Set[str] = frozenset()
    previous: SiteFile | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the plan is about everything that the file says."""
        return self.areas >= frozenset(AREAS) and not self.target
