"""What the operator decided about a site that follows a file."""

from dataclasses import dataclass, field
from typing import Literal

LockPlace = Literal["repo", "state"]
Ordering = Literal["auto", "move", "sort", "off"]


@dataclass(frozen=True)
class SiteOptions:
    """One site file and how it is followed.

    Units: `every` in seconds. Shape: `file` is a path from the repository's root; a run looks at the site when `every`
    has passed since the last look, when the committed file has changed, and when somebody approved a plan; 0 is always.
    `lock` says where the lock is kept: committed beside the site file, or in this machine's state only. `ordering` says
    how siblings get their order: as the server offers it, by its deprecated moves, by its sort, or not at all.
    `kinds` are kinds of redirect destinations that the server takes although nothing there shows it. `commands` is the
    group of commands by which a person reads and approves a plan that waits.
    """

    file: str
    every: float = 0
    lock: LockPlace = "repo"
    ordering: Ordering = "auto"
    kinds: frozenset[str] = field(default=frozenset())
    commands: str = "syncd site"
