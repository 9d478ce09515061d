"""What every flow works with: one repository, the spaces that are bound to it, and their platform."""

from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from syncd.repo.remote.remote import Access
from syncd.repo.repository import Repository
from syncd.repo.values import Person
from syncd.sync.binding import Binding
from syncd.sync.committer import COMMITTER
from syncd.sync.policy import GIT_IMPORT, Policy, WriteMode

if TYPE_CHECKING:  # `status` needs neither the platform nor the store, and both take long to import
    from syncd.api.client import Client
    from syncd.store.store import Store


class Progress(Protocol):
    """A function that is told how far a long step has come."""

    def __call__(self, label: str, done: int, total: int) -> None: ...


def ignore_progress(label: str, done: int, total: int) -> None:
    """Do nothing with progress."""


def ask_always(label: str) -> AbstractContextManager[None]:
    """Return a context in which the upstream may be asked, whatever came of earlier tries."""
    return nullcontext()


def permit_always() -> None:
    """Let everything be written."""


@dataclass(frozen=True)
class Upstream:
    """The Git remote that tracked branches come from.

    Shape: `push` says where commits go: to the branch there, to the branch `side` or nowhere. `mirror` is the branch
    there that gets main content, "" for none. `read_import_url` returns the address from which the platform imports,
    which may hold a credential.
    """

    name: str
    access: Access
    push: Literal["branch", "side", "never"] = "branch"
    side: str = "syncd/{branch}"
    mirror: str = ""
    read_import_url: Callable[[], str] = field(default=str, repr=False, compare=False)

    @property
    def has_mirror(self) -> bool:
        """Whether branches of the remote get the platform's content."""
        return bool(self.mirror) and self.push != "never"

    def change_branch(self, name: str) -> str:
        """Return the branch that gets the content of a change request; `name` is its `<space>/<number>`."""
        return f"{self.mirror}-changes/{name}"

    def is_of_mirror(self, branch: str) -> bool:
        """Return whether a branch of the remote is one that gets the platform's content."""
        return self.has_mirror and (branch == self.mirror or branch.startswith(self.change_branch("")))

    def tracking_ref(self, branch: str) -> str:
        """Return the ref that says where a branch was on the remote when a run last looked."""
        return f"refs/remotes/{self.name}/{branch}"

    def last_seen_ref(self, branch: str) -> str:
        """Return the ref of the commit of the remote that a branch last took in or pushed; only syncd moves it.

        Shape: a slash is escaped, so that `a`, which is gone, is not in the way of `a/b`.
        """
        return f"refs/syncd/upstream/{self.name}/{branch.replace('%', '%25').replace('/', '%2f')}"

    def parse_last_seen_ref(self, ref: str) -> str:
        """Return the branch that a ref of `last_seen_ref` is about."""
        return ref.removeprefix(self.last_seen_ref("")).replace("%2f", "/").replace("%25", "%")


@dataclass(frozen=True)
class Workspace:
    """The platform, the Git repository and the store of a run, with what the caller decided for it.

    Shape: `branch` is the branch to which spaces are bound. `onto` is the parent of the first mirror commit, where main
    content has no ref yet: pages that mean the same keep Git's bytes and paths, and pages that only Git has are not in
    that commit, so its diff shows exactly where both sides differ, and no guard counts it as deletions. `main_ref`
    replaces the ref of main content while nobody has chosen between the two sides of a space. `upstream_guard` returns
    the context in which the upstream is asked, and raises while the upstream is known to be down. `upstream_heads` are
    branches of the upstream that the caller has just listed, None where the run has to ask. `write` says how branches
    reach the platform; with `is_dry_run`, nothing is written there. `permit` is called before each push, and refuses it
    by an exception; the client has it for its requests. `starts` says by a space's id what the branch of a CI job grew
    from, which its change requests name for later jobs. `cache` keeps merge bases and merges of commits for one run, by
    what they were computed from.
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
    write: WriteMode = "auto"
    upstream: Upstream | None = None
    is_cancelled: Callable[[], bool] = lambda: False
    branch: str = "main"
    onto: str | None = None
    main_ref: str = ""
    is_dry_run: bool = False
    upstream_guard: Callable[[str], AbstractContextManager[None]] = ask_always
    upstream_heads: Mapping[str, str] | None = None
    permit: Callable[[], None] = permit_always
    starts: Mapping[str, str] = field(default_factory=dict)
    cache: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def main(self) -> str:
        """The ref that holds main content of every mirrored space."""
        return self.main_ref or f"refs/remotes/{self.remote}/main"

    def change_ref(self, binding: Binding, number: int | str) -> str:
        """Return the ref that holds the content of a change request."""
        return f"refs/remotes/{self.remote}/changes/{binding.name}/{number}"

    def is_imported(self, branch: str) -> bool:
        """Return whether the platform imports a branch as main content: the one that spaces are bound to."""
        return self.write == GIT_IMPORT and branch == self.branch

    def overwritten_refs(self, binding: Binding) -> str:
        """Return the prefix of the refs that hold what an import of a branch overwrote in a space."""
        return f"refs/remotes/{self.remote}/overwritten/{binding.name}/"

    def has_same_content(self, binding: Binding, one: str, other: str) -> bool:
        """Return whether two commits hold the same in the space's directory."""
        subtree = self.repository.find_tree
        return subtree(one, binding.directory) == subtree(other, binding.directory)

    def committer(self) -> Person:
        """Return syncd as the committer, at the present time."""
        return Person(*COMMITTER, when=self.now())
