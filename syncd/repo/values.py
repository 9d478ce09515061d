"""Values that the repository returns and takes: small frozen dataclasses without behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Status = Literal["A", "M", "D", "R"]
EditKind = Literal["edited", "deleted", "unmerged"]
"""What happened in the work tree to a file: `unmerged` is one that a merge of Git has left to a person."""


@dataclass(frozen=True, slots=True)
class Person:
    """Who wrote or recorded a commit, and when (aware)."""

    name: str
    email: str
    when: datetime


@dataclass(frozen=True, slots=True)
class Head:
    """Where HEAD is: `branch` is None when detached, `oid` is None when the branch has no commit yet."""

    branch: str | None
    oid: str | None


@dataclass(frozen=True, slots=True)
class Blob:
    """A file of a tree; `mode` is "100644", "100755", or "120000" for a symbolic link."""

    oid: str
    mode: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One path that differs between two trees.

    Shape: `oid` and `mode` are those of the later tree, or of the earlier one for "D"; `old_path` is set for "R" only.
    """

    status: Status
    path: str
    old_path: str | None
    oid: str
    mode: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as people read it; `body` is the message without its subject, trailers included.

    Units: `recorded` is the second since 1970 at which it was recorded.
    """

    oid: str
    parents: tuple[str, ...]
    subject: str
    body: str
    author: Person
    recorded: int
    trailers: Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree of a merge; with `conflicts` it holds conflict markers and must not be committed."""

    tree: str
    conflicts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergedText:
    """A blob that three were merged into; where they conflict, `text` is the same with markers and labels."""

    oid: str
    conflicts: bool
    text: bytes = b""


class NeedsGit(Exception):
    """A question about commits or trees that only a git process can answer, or that it answers faster.

    Reading some objects through the open conversation is cheaper than a process; reading many is not.
    """


@dataclass(frozen=True, slots=True)
class Difference:
    """One path that differs between two trees, from the root, with what each of them has there."""

    status: Status
    path: str
    old_path: str | None
    before: Blob | None
    after: Blob | None

    @property
    def is_submodule(self) -> bool:
        """Whether a submodule is on either side."""
        return any(side is not None and side.mode == SUBMODULE for side in (self.before, self.after))


SUBMODULE, DIRECTORY, SYMBOLIC_LINK, PLAIN_FILE = "160000", "040000", "120000", "100644"
"""The mode of a submodule's entry, which names a commit of another repository; of a tree's; of a link's; and of a file
that cannot be run."""


@dataclass(frozen=True, slots=True)
class CommitNode:
    """A commit, and its whole message."""

    commit: Commit
    message: str
