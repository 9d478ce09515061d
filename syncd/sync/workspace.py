"""What every flow works with: one repository bound to spaces of one platform."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from syncd.repo import Access, Person, Repository
from syncd.sync.policy import Policy

if TYPE_CHECKING:  # `status` needs neither the platform nor the store, and both take long to import
    from syncd.api.client import Client
    from syncd.store.store import Store

COMMITTER = ("syncd", "syncd@localhost")


class Progress(Protocol):
    """Told how far a long step has come."""

    def __call__(self, label: str, done: int, total: int) -> None: ...


def ignore_progress(label: str, done: int, total: int) -> None:
    """Given progress, tell nobody."""


@dataclass(frozen=True)
class Binding:
    """One space in its directory of the repository ("" is the root); `name` stands for it in refs and output."""

    space: str
    directory: str
    name: str

    def path(self, inner: str) -> str:
        """Given a path below the space's directory, return it from the repository's root."""
        return f"{self.directory}/{inner}" if self.directory else inner

    def holds(self, path: str) -> bool:
        """Given a path from the repository's root, return whether it lies in the space's directory."""
        return path.startswith(self.path(""))


@dataclass(frozen=True)
class Upstream:
    """The Git remote that tracked branches come from; commits go to the branch there, to a side branch, or nowhere.

    Shape: `mirror` is the branch there that main content of the platform goes to, "" for none.
    """

    name: str
    access: Access
    push: Literal["branch", "side", "never"] = "branch"
    side: str = "syncd/{branch}"
    mirror: str = ""

    @property
    def has_mirror(self) -> bool:
        """Whether what the platform has goes to branches of the remote."""
        return bool(self.mirror) and self.push != "never"

    def change_branch(self, name: str) -> str:
        """Given a change request as `<space>/<number>`, return the branch that its content goes to."""
        return f"{self.mirror}-changes/{name}"

    def is_of_mirror(self, branch: str) -> bool:
        """Given a branch of the remote, return whether it is one that holds what the platform has."""
        return self.has_mirror and (branch == self.mirror or branch.startswith(self.change_branch("")))

    def tracking_ref(self, branch: str) -> str:
        """Given a branch, return the ref that says where it was on the remote when somebody last looked."""
        return f"refs/remotes/{self.name}/{branch}"

    def last_seen_ref(self, branch: str) -> str:
        """Given a branch, return the ref of the remote's commit that it last held; only syncd moves it.

        Shape: a slash is escaped, so that `a`, which is gone, is not in the way of `a/b`.
        """
        return f"refs/syncd/upstream/{self.name}/{branch.replace('%', '%25').replace('/', '%2f')}"

    def parse_last_seen_ref(self, ref: str) -> str:
        """Given such a ref, return the branch that it is for."""
        return ref.removeprefix(self.last_seen_ref("")).replace("%2f", "/").replace("%25", "%")


@dataclass(frozen=True)
class Workspace:
    """The two sides, the memory between them, and what the caller decides.

    Shape: `branch` is the one that a space is bound to at first. `onto` is the commit on which the first mirror commit
    sits when main content has no ref yet. Its tree is aligned with the revision: a page that means the same keeps Git's
    bytes and path, a page that only Git has is not in the mirror commit. So that commit's diff is exactly where Git and
    the platform differ, and no guard counts it as deletions. `aside` is another ref for main content, for a space whose
    two sides nobody has chosen between yet. `is_dry_run` says that nothing may be written to the platform. `cache` has
    the merge bases and merges of commits for one run, by what they were computed from; commits never change.
    """

    client: "Client"
    repository: Repository
    store: "Store"
    now: Callable[[], datetime]
    bindings: tuple[Binding, ...] = ()
    remote: str = "platform"
    instance: str = "000000"
    progress: Progress = ignore_progress
    force: Mapping[str, int] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    upstream: Upstream | None = None
    is_cancelled: Callable[[], bool] = lambda: False
    branch: str = "main"
    onto: str | None = None
    main_ref: str = ""
    is_dry_run: bool = False
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def main(self) -> str:
        """The ref that holds main content of every mirrored space."""
        return self.main_ref or f"refs/remotes/{self.remote}/main"

    def change_ref(self, binding: Binding, number: int) -> str:
        """Given a change request, return the ref that holds its content."""
        return f"refs/remotes/{self.remote}/changes/{binding.name}/{number}"

    def proposed_refs(self, binding: Binding) -> str:
        """Given a space, return where its proposals are anchored: `<number>/<branch>` is the proposed commit."""
        return f"refs/syncd/proposed/{binding.name}/"

    def has_same_content(self, binding: Binding, one: str, other: str) -> bool:
        """Given two commits, return whether they hold the same in the space's directory."""
        subtree = self.repository.find_tree
        return subtree(one, binding.directory) == subtree(other, binding.directory)

    def committer(self) -> Person:
        """Given the time, return syncd as the committer."""
        return Person(*COMMITTER, when=self.now())
