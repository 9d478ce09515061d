"""Named branches that are neither here nor at the upstream: a mistyped name, or main where the host has master."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from syncd.errors import PathRefused
from syncd.model.wording import format_first
from syncd.repo.repository import Repository
from syncd.sync.branches import HEADS, OWN_PREFIX, match_branches
from syncd.sync.merge.base import TIP_REFS
from syncd.sync.outcome import Held
from syncd.sync.workspace import Upstream


@dataclass(frozen=True)
class Presence:
    """Where the branches of a repository are looked for.

    Shape: `there` are branches of the upstream, all those that tracked names may mean; `all_there` are those of people.
    `proposed` are the prefixes of the refs of all spaces' proposals, `<number>/<branch>`.
    """

    repository: Repository
    upstream: Upstream | None
    there: Collection[str]
    all_there: Collection[str]
    proposed: Sequence[str]

    def is_missing(self, name: str) -> bool:
        """Return whether a branch is nowhere; of a name that no branch can have, every flow says that."""
        return is_missing(self.repository, name, self.there)

    def was_seen(self, name: str) -> bool:
        """Return whether there was such a branch before: then what is said of one that is deleted is enough."""
        refs = [f"{TIP_REFS}{name}", *([self.upstream.last_seen_ref(name)] if self.upstream is not None else [])]
        proposed = (ref.removeprefix(each) for each in self.proposed for ref in self.repository.list_refs(each))
        return any(self.repository.resolve(ref) for ref in refs) or name in (one.partition("/")[2] for one in proposed)

    def list_present(self) -> list[str]:
        """Return all branches that there are, by name."""
        return sorted({ref.removeprefix(HEADS) for ref in self.repository.list_refs(HEADS)} | {*self.all_there})

    def describe(self, name: str) -> str:
        """Say that a branch is nowhere."""
        return f"there is no branch {name}{f', here or at {self.upstream.name}' if self.upstream else ' here'}"


def is_missing(repository: Repository, name: str, there: Collection[str]) -> bool:
    """Return whether a branch is neither in a repository nor `there`; False for a name that no branch can have."""
    try:
        return name not in there and repository.resolve(f"{HEADS}{name}") is None
    except PathRefused:
        return False


def list_branches_of_people(there: Iterable[str], upstream: Upstream, others: Sequence[str]) -> frozenset[str]:
    """Return the branches of a remote that syncd did not push: an empty remote may have got those.

    Shape: `others` are branches that are fetched and never brought to a branch here.
    """
    return frozenset(
        name for name in there if not (upstream.is_of_mirror(name) or name.startswith(OWN_PREFIX) or name in others)
    )


def find_absent(presence: Presence, names: Sequence[str], patterns: Sequence[str]) -> Mapping[str, Held]:
    """Return by name what is to be said of named branches that are nowhere, where no other branch is tracked: one that
    is yet to be made may stand beside others.

    Shape: none where there is no branch at all, as before a first run; nor one that was there once, or that the first
    commit in a work tree makes.
    """
    if not names or not all(presence.is_missing(name) for name in names):
        return {}
    present = presence.list_present()
    if any(match_branches({*presence.there, *present}, patterns)):
        return {}
    head, repository = presence.repository.read_head(), presence.repository
    unborn = head.branch if head.oid is None and repository.work_tree is not None else None
    absent = [name for name in names if present and name != unborn and not presence.was_seen(name)]
    such = head.branch if head.branch in present else present[0] if present else ""
    hint = f'there is {format_first(present, 5)}: in the configuration, name yours, as in branches = ["{such}"]'
    return {name: Held(presence.describe(name), hint) for name in absent}
